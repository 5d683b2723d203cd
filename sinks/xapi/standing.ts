import type { Fields } from '../sink.js';

/**
 * What this sink has made of an item: the `object` that the engine keeps. Ids and marks alone, nothing of a person.
 *
 * | state | |
 * |---|---|
 * | standing | `statement` stands at the LRS and says what `mark` marks |
 * | gone | `statement` is null, `unsure` empty: everything that was said has been voided |
 * | open | an answer was lost: any of `unsure` may stand; `issuing` when the last of them was to be issued, so that it may be sent again |
 *
 * A type and not an interface, so that it is what the contract calls fields.
 */
export type Standing = {
  readonly statement: string | null;
  readonly mark: string;
  /** The revision and the issue that the last statement was made of. */
  readonly revision: number;
  readonly issue: number;
  readonly unsure: readonly string[];
  readonly issuing: boolean;
  /** What a credit names as evidence: when one of these no longer counts, it is issued anew. */
  readonly evidence?: readonly string[];
};

/** Null: nothing yet. What is not in this form counts as nothing, since only this sink writes it. */
export function standingOf(object: Fields | null): Standing | null {
  if (object === null || typeof object['revision'] !== 'number' || !Array.isArray(object['unsure'])) return null;
  return object as unknown as Standing;
}

/** Every statement of the item that stands, or may stand. */
export function mayStand({ statement, unsure }: Standing): string[] {
  return [...new Set([...(statement === null ? [] : [statement]), ...unsure])];
}
