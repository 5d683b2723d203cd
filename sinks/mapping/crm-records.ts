import { listsWhere } from '../../base/lists.js';
import { cleanEmailAddress } from '../../base/email-address.js';
import { dayStartMs, instantMs } from '../../base/instant.js';
import { type Fields, fieldsOf, type Subject } from '../sink.js';

/** An entry of `records` in the configuration of a CRM sink. */
export interface NamedRecord<Keys> {
  /** The name under which an item's object stores the entry's result. */
  readonly name: string;
  /** For messages, e.g. `crm.records[0]`. */
  readonly path: string;
  readonly keys: Keys;
}

/**
 * Names entries after their `object`, in the order of the file. The second and later entries of one kind have a number.
 * A new entry at the end renames no other.
 */
export function namedRecords<Keys extends { readonly object: string }>(
  sink: string,
  records: readonly Keys[],
  { kindOf, separator }: { readonly kindOf: (keys: Keys) => string; readonly separator: string },
): NamedRecord<Keys>[] {
  const counts = new Map<string, number>();
  return records.map((keys, index) => {
    const count = (counts.get(kindOf(keys)) ?? 0) + 1;
    counts.set(kindOf(keys), count);
    const name = count === 1 ? keys.object : `${keys.object}${separator}${count}`;
    return { name, path: `${sink}.records[${index}]`, keys };
  });
}

/**
 * Returns the entries of `records` of which the vendor may have more of an item than its object says, because a write got
 * no answer.
 */
export function mayExistIn(object: Fields | null): string[] {
  return Object.keys(object ?? {}).filter((record) => mayHoldMore(object, record));
}

/** Whether the vendor may have more of an entry's record than the item's object says. */
export function mayHoldMore(object: Fields | null, record: string): boolean {
  return fieldsOf(object?.[record]).mayExist === true;
}

/**
 * Whether the vendor did not answer the creation of an entry's record. A record that is found later is then the new one,
 * because the search before the creation found none.
 */
export function mayBeCreated(object: Fields | null, record: string): boolean {
  return mayHoldMore(object, record) && fieldsOf(object?.[record]).creating === true;
}

/** Returns the item's object with the mark at these entries that a write of them got no answer; null if it is empty. */
export function withoutAnswer(object: Fields | null, records: readonly string[]): Fields | null {
  const marked = records.map((record) => [record, { ...fieldsOf(object?.[record]), mayExist: true }]);
  return object === null && marked.length === 0 ? null : { ...object, ...Object.fromEntries(marked) };
}

/**
 * Returns the detail of a dead letter about a record that was merged into another one before its person was forgotten.
 * @param record the record with its type, such as `Lead 00Q…`
 */
export function mergedDetail(record: string, survivor: string): string {
  return `${record} was merged into ${survivor}: remove the person's data there by hand, then discard the dead letter`;
}

/** Lists whose items are people, or belong to no person. */
const notDoneByPeople: ReadonlySet<string> = new Set(
  listsWhere(({ holds, person }) => holds === 'people' || person === 'none'),
);

/** Whether the items of a list are actions of people (questions, votes). Such items can become anonymous. */
export function isDoneByPeople(list: string): boolean {
  return !notDoneByPeople.has(list);
}

/**
 * Whether the item is the action of a person whose identity is not visible. Such an item contains no id of the person.
 */
export function isAnonymous({ change, attendee }: Subject): boolean {
  if (attendee !== null || !isDoneByPeople(change.list)) return false;
  return change.data?.attendeeId === undefined && fieldsOf(change.data?.attendee).id === undefined;
}

/**
 * Returns the event time of the item, Unix time in ms: the time of its sign-in or creation, otherwise the start of the
 * event, otherwise the time at which pigeonpost found the change.
 */
export function happenedAtMs({ change, pigeonhole }: Subject): number {
  const item = change.data ?? {};
  for (const found of [item.signInTime, item.signedInAt, item.createdAt, pigeonhole?.startDate]) {
    const atMs = typeof found === 'string' ? (instantMs(found) ?? dayStartMs(found)) : undefined;
    if (atMs !== undefined) return atMs;
  }
  return Date.parse(change.timestamp);
}

/**
 * Returns an e-mail address in lower case, as CRMs compare them; null if the value cannot be one.
 */
export function emailAddress(value: unknown): string | null {
  return typeof value === 'string' ? (cleanEmailAddress(value)?.toLowerCase() ?? null) : null;
}
