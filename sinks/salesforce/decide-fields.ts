import type { FieldValue, FieldWrite, MemberStage } from './operation.js';

/** A record's present values in the org. */
export interface PresentRecord {
  /** Values by field name in lower case; absent if the field was not requested. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly lastModifiedAtMs: number;
}

/**
 * Maximum difference between two times of one write. The response's time has whole seconds, and the record's time comes
 * from another clock of Salesforce.
 */
const SAME_WRITE_MS = 2_000;

interface WriteCircumstances {
  readonly happenedAtMs: number;
  readonly writtenAtMs: number | null;
  readonly isOurs: boolean;
}

/** Whether a write depends on the present value. */
export function needsPresent({ policy }: FieldWrite): boolean {
  return policy !== 'always';
}

/**
 * Decides which fields are written. Pure. `if-empty` and `if-newer` never clear a field, because another source may
 * have set its value. Salesforce stores no time for a single field, so `if-newer` uses the time of the whole record. It
 * writes if the field is empty, if the event happened after the last change of the record, or if the last change of the
 * record was made by this sink for this item.
 * @param present the record's present values; null if the record does not exist yet
 * @param writtenAtMs time at which this sink last wrote the record for this item; null if it never did
 * @param isOurs whether this sink has probably written the present values. If it has not, a value that the record
 * already has is not written again, because it would then count as this sink's value and be cleared when the person is
 * forgotten
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
 * Keeps first and last name consistent. Without this, `if-empty` could put "Ada" before a last name from another
 * source, and a name of one word could turn "Ada Lovelace" into "Ada Ada". Changes `decided`; otherwise pure.
 * @param decided the values to write; this function removes a part of the name that does not fit the other
 * @param now returns the record's present value of a field, whose name is in lower case
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
 * Returns the new status of a membership; null if the status stays. Pure. A status never changes back from attended to
 * registered. If a user set a status that counts as a response, a status that does not count as one does not replace
 * it.
 * @param present the present membership; null if there is none yet
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
