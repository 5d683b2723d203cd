import type { WritePolicy } from '../mapping/expression-schema.js';

/** A value in JSON; null clears the field. */
export type Value = string | number | boolean | null;

export interface ValueWrite {
  /** The name of a field, also called property or column. */
  readonly name: string;
  readonly value: Value;
  readonly policy: WritePolicy;
}

export interface PresentValue {
  /** Null, undefined or an empty text if there is none. */
  readonly value: unknown;
  /** Time of the event that the value describes, if it is known; otherwise the time of the write. Unix time in ms. */
  readonly happenedAtMs: number;
  /**
   * Whether this sink has probably written the value. If it has not, the same value is not written again, because it
   * would then count as this sink's value and be cleared when the person is forgotten. `maybe`: a write without an answer
   * may have put it there. The same value is then written again, so that it counts as this sink's.
   */
  readonly isOurs?: IsOurs;
}

export type IsOurs = boolean | 'maybe';

/** The present values of a record by field name in lower case. Absent: the value was not read. */
export type PresentValues = ReadonlyMap<string, PresentValue>;

/** The rules of a vendor about values. */
export interface ValueRules {
  /** The fields with a person's first and last name, in lower case. */
  readonly nameParts?: readonly [first: string, last: string];
  /** Whether a field, whose name is in lower case, may change to this value; true if absent. */
  readonly mayChange?: (name: string, from: unknown, to: Value) => boolean;
  /** Whether a present value means the same as another one. By default, whether their texts are equal. */
  readonly isSame?: (name: string, present: unknown, value: Value) => boolean;
}

/** Whether a write depends on the present value. */
export function needsPresent({ policy }: Pick<ValueWrite, 'policy'>): boolean {
  return policy !== 'always';
}

/**
 * Decides which values are written to a record. Pure. `always` writes a value if it differs from the present one, or the
 * present one is not known. `if-empty` and `if-newer` never clear a field, because its value may belong to another
 * system. `if-newer` replaces a value that describes an earlier event. First and last name are kept consistent.
 * @param present the present values; null if the record does not exist yet
 * @param happenedAtMs event time of the new values, Unix time in ms
 */
export function decideValues(
  writes: readonly ValueWrite[],
  present: PresentValues | null,
  happenedAtMs: number,
  rules: ValueRules = {},
): Map<string, Value> {
  const { mayChange = () => true, isSame = sameText } = rules;
  const decided = writes.filter(({ name, value, policy }) => {
    const key = name.toLowerCase();
    const now = present?.get(key);
    if (now !== undefined && now.isOurs !== true && areSame(now.value, value, (a, b) => isSame(key, a, b)))
      return now.isOurs === 'maybe' && value !== null;
    const isMissing = now === undefined || isEmpty(now.value);
    if (!mayChange(key, isMissing ? null : now.value, value)) return false;
    switch (policy) {
      case 'always':
        return value !== null || present !== null;
      case 'if-empty':
        return value !== null && isMissing;
      case 'if-newer':
        return value !== null && (isMissing || happenedAtMs > now.happenedAtMs);
    }
  });
  const values = new Map(decided.map(({ name, value }) => [name, value]));
  if (rules.nameParts !== undefined) keepNameWhole(values, writes, present, rules.nameParts);
  return values;
}

/**
 * Removes a first or last name from the decided values if it does not fit the record's other name. Without this, "Ada"
 * could be put before a last name from another source, and a name of only one word could become both first and last
 * name. A complete name with the policy `always` replaces any other.
 */
function keepNameWhole(
  decided: Map<string, Value>,
  writes: readonly ValueWrite[],
  present: PresentValues | null,
  [first, last]: readonly [string, string],
): void {
  const writeOf = (part: string): ValueWrite | undefined => writes.find(({ name }) => name.toLowerCase() === part);
  for (const [part, other] of [
    [first, last],
    [last, first],
  ] as const) {
    const write = writeOf(part);
    if (write === undefined || write.value === null || !decided.has(write.name)) continue;
    const otherWrite = writeOf(other);
    const ours = otherWrite?.value ?? null;
    if (write.policy === 'always' && ours !== null) continue;
    const decidedOther = otherWrite === undefined ? undefined : decided.get(otherWrite.name);
    const there = decidedOther === undefined ? present?.get(other)?.value : decidedOther;
    if (isEmpty(there)) continue;
    const fits = ours === null ? !sameName(there, write.value) : sameName(there, ours);
    if (!fits) decided.delete(write.name);
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function areSame(present: unknown, value: Value, isSame: (present: unknown, value: Value) => boolean): boolean {
  if (isEmpty(present) || value === null) return isEmpty(present) && value === null;
  return isSame(present, value);
}

function sameText(_: string, present: unknown, value: Value): boolean {
  return ['string', 'number', 'boolean'].includes(typeof present) && String(present) === String(value);
}

function sameName(one: unknown, other: Value): boolean {
  return String(one).trim().toLowerCase() === String(other).trim().toLowerCase();
}
