import type { Subject } from './sink.js';

/**
 * Whether one of the values that identify an item's record may find a record of someone else. Pure. Only for canaries,
 * whose own values all contain their digits: a record found by an id of the event or by a literal of the mapping
 * belongs to real people, and a canary must not overwrite it.
 */
export function mayBeAnothers({ canary }: Pick<Subject, 'canary'>, values: readonly (string | null)[]): boolean {
  return canary !== undefined && values.some((value) => value !== null && !value.includes(canary));
}

/** Reason for skipping such a canary. */
export const notItsOwn = 'not-its-own';
