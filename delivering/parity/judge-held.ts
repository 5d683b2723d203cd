import type { Fields, HeldResult, Operation, ReadBack } from '../../sinks/sink.js';
import type { EntryName } from './parity-store.js';

/**
 * Result of the comparison of an entry: an item or, in a log, a revision.
 *
 * - `same`: the destination holds what was delivered, or nothing of a removed item.
 * - `stale`: the destination holds an earlier state, and `cause` says of what: an earlier `revision` of the item, `related`
 *   items (the person, the session, copied texts) that changed after the delivery, or a changed `mapping`.
 * - `changed`: the destination holds something else, so it was changed there.
 * - `missing`: the destination does not have it.
 * - `extra`: the destination still has what should be removed, or another copy with our mark.
 * - `unreadable`: the destination refuses to show it.
 * - `undelivered`: not compared, because a delivery of the item is waiting, in progress or a dead letter; or the item differs,
 *   but was delivered so recently that the destination may not show it yet.
 */
export type ParityClass = 'same' | 'stale' | 'changed' | 'missing' | 'extra' | 'unreadable' | 'undelivered';

/**
 * Action of a repair for a finding. `send`: sends the item in its latest revision or, in a log, the revision as a replay.
 * `remove`: sends the removal again. `remove-copy`: removes it directly (`removeHeld`).
 */
export type RepairAction = 'send' | 'remove' | 'remove-copy';

/** The result of one entry as it is stored: names of fields, codes, ids and times, never a value. */
export interface Verdict extends EntryName {
  readonly revision: number;
  readonly class: ParityClass;
  /** Null: a repair can do nothing. */
  readonly action: RepairAction | null;
  /** For `stale`: what is old. For `unreadable`: the cause that the sink declares. Otherwise null. */
  readonly cause: string | null;
  readonly fields: readonly string[];
  readonly changedBy: string | null;
  readonly changedAt: string | null;
  /** The object that a repair stores first; undefined: the stored one is right. */
  readonly object: Fields | null | undefined;
  /** Ids of further objects with our mark. */
  readonly copies: readonly string[];
  /** The action of a repair for the copies. */
  readonly copyAction: RepairAction | null;
}

/** An entry and the facts on which its verdict depends. */
export interface ExpectedEntry extends EntryName {
  readonly revision: number;
  readonly wanted: ReadBack;
  /** False if the ledger no longer has the content, so that it cannot be sent again. */
  readonly canSend: boolean;
}

/** The abilities of the sink on which a repair depends. */
export interface SinkAbilities {
  readonly isLog: boolean;
  readonly removesHeld: boolean;
}

/**
 * Facts about an entry that differs, which the engine reads only for such entries.
 */
export interface Difference {
  readonly fields: readonly string[];
  /** The thing that is old, if an earlier state explains the difference; null: none does. */
  readonly staleBy: 'revision' | 'related' | 'mapping' | null;
}

/** Returns true if the destination differs from what was delivered, or has further copies of it. */
export function isDifference(verdict: Verdict): boolean {
  return verdict.copies.length > 0 || (verdict.class !== 'same' && verdict.class !== 'unreadable');
}

/** Returns the verdict on an entry that is not compared now, because its delivery is not settled or recent. */
export function undelivered(entry: EntryName & { readonly revision: number }): Verdict {
  const { list, key, entry: number, revision } = entry;
  return { list, key, entry: number, revision, class: 'undelivered', action: null, ...nothingFound };
}

const nothingFound = {
  cause: null,
  fields: [],
  changedBy: null,
  changedAt: null,
  object: undefined,
  copies: [],
  copyAction: null,
} as const;

/** A result that says what the destination holds. */
export type ReadResult = Exclude<HeldResult, { kind: 'retry' | 'pause' }>;

/**
 * Judges what a destination holds of an entry. Pure.
 * @param difference of a `held` entry with content or of a removal; null: it does not differ, or was not compared
 */
export function judgeHeld(
  expected: ExpectedEntry,
  result: ReadResult,
  difference: Difference | null,
  sink: SinkAbilities,
): Verdict {
  const { list, key, entry, revision, wanted, canSend } = expected;
  const name = { list, key, entry, revision };
  if (result.kind === 'unreadable') {
    return { ...name, ...nothingFound, class: 'unreadable', action: null, cause: result.cause };
  }
  const held = result.kind === 'held' ? result : undefined;
  const base = {
    ...name,
    fields: difference?.fields ?? [],
    cause: null,
    changedBy: held?.changedBy ?? null,
    changedAt: held?.changedAt ?? null,
    object: result.object,
    copies: result.copies ?? [],
    copyAction: sink.removesHeld ? ('remove-copy' as const) : null,
  };
  const same: Verdict = { ...base, class: 'same', action: null };
  const send = canSend ? ('send' as const) : null;
  if (wanted.expected === 'absence') {
    if (held === undefined) return same;
    if (sink.isLog) return { ...base, class: 'extra', action: base.copyAction };
    if (wanted.operation === null) return { ...base, class: 'extra', action: null };
    return difference === null ? same : { ...base, class: 'extra', action: 'remove' };
  }
  if (held === undefined) return { ...base, class: 'missing', action: send };
  if (difference === null) return same;
  if (difference.staleBy === null) return { ...base, class: 'changed', action: send };
  return { ...base, class: 'stale', action: send, cause: difference.staleBy };
}

/** Returns the names of the fields in which what a destination holds differs from an operation. */
export type CompareHeld = (operation: Operation, held: unknown) => readonly string[];
