import type { FieldValue, FieldWrite, MemberStage } from './operation.js';

/** A record's present values in the org. */
export interface PresentRecord {
  /** By field in lower case; absent: not asked for. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly lastModifiedAtMs: number;
}

/** Two clocks of Salesforce are compared: that of the answer, in whole seconds, and that of the record. */
const SAME_WRITE_MS = 2_000;

export interface WriteCircumstances {
  readonly happenedAtMs: number;
  readonly writtenAtMs: number | null;
  readonly isOurs: boolean;
}

/** Whether a write cannot be decided without the present value. */
export function needsPresent({ policy }: FieldWrite): boolean {
  return policy !== 'always';
}

/**
 * The fields that are written. Pure. `if-empty` and `if-newer` never clear a field, because its value may be
 * another's. Salesforce keeps no time for a single field, so `if-newer` compares with the whole record's: written
 * where the field is empty, where what the item tells of happened after anyone last changed the record, or where
 * nobody but this sink, for this item, has changed the record since it last did.
 * @param present null: the record does not exist yet
 * @param writtenAtMs when this sink last wrote it for this item; null: never
 * @param isOurs whether all that it has of these values may well be from this sink. Of another's record a value that
 *   is already there is not written again, so that it does not count as written by this sink, and is not cleared
 *   with what was
 */
export function decideFields(
  writes: readonly FieldWrite[],
  present: PresentRecord | null,
  { happenedAtMs, writtenAtMs, isOurs }: WriteCircumstances,
): Map<string, FieldValue> {
  const decided = new Map<string, FieldValue>();
  for (const { field, value, policy } of writes) {
    if (present === null) {
      if (value !== null) decided.set(field, value);
      continue;
    }
    const now = present.values.get(field.toLowerCase());
    if (!isOurs && isSame(field, now, value)) continue;
    const isEmpty = now === undefined || now === null || now === '';
    const isNewer =
      happenedAtMs > present.lastModifiedAtMs ||
      (writtenAtMs !== null && present.lastModifiedAtMs <= writtenAtMs + SAME_WRITE_MS);
    const isWritten = policy === 'always' || (value !== null && (isEmpty || (policy === 'if-newer' && isNewer)));
    if (isWritten) decided.set(field, value);
  }
  return decided;
}

/**
 * Keeps first and last name one name. Without it `if-empty` would put "Ada" before the surname that the record has
 * from somewhere else, and a name of one word would make "Ada Ada" of "Ada Lovelace". Pure, except for `decided`.
 * @param decided what is about to be written; a part of the name that does not fit is taken out
 * @param now what the record has, by field in lower case
 */
export function keepNameWhole(
  decided: Map<string, FieldValue>,
  writes: readonly FieldWrite[],
  now: (field: 'firstname' | 'lastname') => string,
): void {
  const first = writes.find(({ field }) => field.toLowerCase() === 'firstname');
  const last = writes.find(({ field }) => field.toLowerCase() === 'lastname');
  if (last === undefined || last.value === null) return;
  const surname = decided.has(last.field) ? String(decided.get(last.field)) : now('lastname');
  const same = (one: string): boolean => one.toLowerCase() === String(last.value).toLowerCase();
  if (first !== undefined && first.policy !== 'always' && !same(surname)) decided.delete(first.field);
  const saysFirst = first !== undefined && first.value !== null;
  const cleared = first !== undefined && decided.get(first.field) === null;
  if (saysFirst || cleared || now('lastname') === '') return;
  if (same(now('firstname'))) decided.delete(last.field);
}

function isSame(field: string, now: unknown, value: FieldValue): boolean {
  if (now === undefined || now === null) return false;
  if (typeof now !== 'string' && typeof now !== 'number' && typeof now !== 'boolean') return false;
  if (field.toLowerCase() === 'email') return String(now).toLowerCase() === String(value).trim().toLowerCase();
  return String(now) === String(value);
}

export interface PresentMember {
  readonly status: string;
  readonly hasResponded: boolean;
}

/**
 * The status that a membership is given; null: it stays. Pure. Nobody is taken back from attended to registered, and
 * a status that counts as a response and was set by a user is not replaced by one that does not.
 * @param present null: there is no membership yet
 * @param responds whether a status counts as a response in this campaign
 */
export function decideMemberStatus(
  present: PresentMember | null,
  stage: MemberStage,
  status: Readonly<Record<MemberStage, string>>,
  responds: (label: string) => boolean,
): string | null {
  const wanted = status[stage];
  if (present === null) return wanted;
  if (present.status === wanted || present.status === status.attended) return null;
  if (present.hasResponded && !responds(wanted)) return null;
  return wanted;
}
