import { createHash } from 'node:crypto';
import type { ListName } from '../../base/lists.js';
import {
  emailAddress,
  happenedAtMs,
  isAnonymous,
  mayHoldMore,
  type NamedRecord,
  withoutAnswer,
} from '../mapping/crm-records.js';
import { type Expression, mappingView, type MappingView, textValue } from '../mapping/expression.js';
import type { WrittenValue } from '../mapping/expression-schema.js';
import { MappingError } from '../mapping/mapping-error.js';
import { type Fields, fieldsOf, forgetsPerson, type OnForget, type Planned, type Subject } from '../sink.js';
import type { Value, ValueWrite } from './decide-values.js';
import type { RecordOperation } from './record-task.js';

/** The record to use if several match. `park`: none, so the change becomes a dead letter. */
export type OnSeveral = 'newest' | 'oldest' | 'park';

/** An entry of `records` of a sink whose records are planned here. */
export interface PlainKeys {
  readonly from: ListName;
  readonly when?: Expression | undefined;
  /** The type of the records, such as a table. */
  readonly object: string;
  /** Fields by which a record is found, in order. */
  readonly match: readonly string[];
  readonly onSeveral: OnSeveral;
  readonly create: boolean;
  readonly properties: Readonly<Record<string, WrittenValue>>;
}

export type PlainOperation = RecordOperation<PlainStep>;
export type PlainStep = SaveStep | ForgetStep;

interface OfRecord {
  /** The name of the entry of `records`. */
  readonly record: string;
  readonly object: string;
  /** The record that an earlier change wrote. */
  readonly known: MadeRecord | null;
}

/** Updates a record, or creates it if it is not found. */
export interface SaveStep extends OfRecord {
  readonly kind: 'save';
  /** A UUID that is always the same for the item and the entry, for vendors that let the client choose an id. */
  readonly newId: string;
  /** The values to search by, in order. */
  readonly match: readonly { readonly field: string; readonly value: string }[];
  readonly onSeveral: OnSeveral;
  readonly create: boolean;
  readonly writes: readonly ValueWrite[];
  /** Event time of the values, Unix time in ms. */
  readonly happenedAtMs: number;
  /** Whether an earlier attempt may have written the record without an answer. */
  readonly isUnsure: boolean;
}

/** Removes what was sent about the person. */
export interface ForgetStep extends OfRecord {
  readonly kind: 'forget';
  readonly known: MadeRecord;
  readonly how: 'clear-our-fields' | 'delete';
  /**
   * Whether the vendor may have the person's data in another record, if this one does not exist. An operator then has to
   * search for the person.
   */
  readonly isUnsure: boolean;
}

/** The result of an entry for an item, as the ledger stores it: ids and names of fields, no values. */
export interface MadeRecord {
  readonly id: string;
  /** Whether this sink created the record for this item. */
  readonly created: boolean;
  /** The fields that this sink wrote. */
  readonly written: readonly string[];
  /** Time of the last write, Unix time in ms. */
  readonly writtenAtMs: number;
}

/**
 * Plans the steps for a change: each entry of `records` that reads the change's list saves a record. Records are about
 * people, whom other systems know as well, so they stay if the item is deleted. Pure. @throws {MappingError}
 */
export async function planPlainRecords(
  subject: Subject,
  entries: readonly NamedRecord<PlainKeys>[],
  onForget: OnForget,
): Promise<Planned<PlainOperation>> {
  const { change, object } = subject;
  const steps: PlainStep[] = [];
  let reason = 'no-record';
  for (const entry of entries.filter(({ keys }) => keys.from === change.list)) {
    const step = await stepFor(entry, subject, onForget);
    if (typeof step === 'string') reason = step;
    else steps.push(step);
  }
  if (steps.length === 0) return { kind: 'nothing', reason };
  return { kind: 'send', operation: { changeId: change.id, steps, object } };
}

/**
 * Plans an operation for a change that an earlier attempt may have sent, although nothing of it is planned now. It is never
 * sent: `recoverPlainRecords` stores that the vendor may have records of the item. Pure.
 */
export function planPlainLookUp(
  { change, object }: Subject,
  entries: readonly NamedRecord<PlainKeys>[],
): Planned<PlainOperation> {
  const records = entries.filter(({ keys }) => keys.from === change.list).map(({ name }) => name);
  if (records.length === 0) return { kind: 'nothing', reason: 'no-record' };
  return { kind: 'send', operation: { changeId: change.id, steps: [], object: withoutAnswer(object, records) } };
}

/** Returns the step of an entry, or the reason why there is none. */
async function stepFor(
  { keys, name, path }: NamedRecord<PlainKeys>,
  subject: Subject,
  onForget: OnForget,
): Promise<PlainStep | string> {
  const { object, create, onSeveral } = keys;
  const isUnsure = mayHoldMore(subject.object, name);
  const made = madeRecord(subject.object?.[name]);
  // If the vendor did not answer, the record may have been created under the id that this sink chose.
  const written = Object.keys(keys.properties);
  const maybe = isUnsure ? { id: newIdOf(subject, name), created: true, written, writtenAtMs: 0 } : null;
  const known = made ?? (forgetsPerson(subject.removal) ? maybe : null);
  const of = { record: name, object, known };
  if (forgetsPerson(subject.removal)) {
    if (known === null) return 'never-sent';
    if (onForget !== 'manual') {
      const all = isUnsure ? [...new Set([...known.written, ...written])] : known.written;
      return { kind: 'forget', ...of, known: { ...known, written: all }, how: onForget, isUnsure: made === null };
    }
    const detail = `a person must be forgotten: remove their data from ${object} ${known.id} by hand ("onForget: manual")`;
    throw new MappingError('forget-by-hand', detail);
  }
  if (subject.removal !== null || subject.change.data === null) return known === null ? 'never-sent' : 'kept';
  const view = mappingView(subject);
  if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) return 'condition';
  if (isAnonymous(subject)) {
    return known === null ? 'no-person' : { kind: 'forget', ...of, known, how: 'clear-our-fields', isUnsure };
  }
  const writes = await writesOf(keys, path, view, known?.written ?? []);
  const match = keys.match.flatMap((field) => {
    const value = writes.find((each) => each.name === field)?.value ?? null;
    return value === null ? [] : [{ field, value: String(value) }];
  });
  if (known === null && match.length === 0) return 'no-match';
  const newId = newIdOf(subject, name);
  return {
    kind: 'save',
    ...of,
    newId,
    match,
    onSeveral,
    create,
    writes,
    happenedAtMs: happenedAtMs(subject),
    isUnsure,
  };
}

/** @param written the fields that this sink has written; those that the item no longer has are cleared */
async function writesOf(
  { properties, match }: PlainKeys,
  path: string,
  view: MappingView,
  written: readonly string[],
): Promise<ValueWrite[]> {
  const writes: ValueWrite[] = [];
  for (const [name, { value, write: policy }] of Object.entries(properties)) {
    const found = await value.evaluate(view, `${path}.properties.${name}`, fieldValue);
    const given = found !== undefined && /^e-?mail/i.test(name) ? emailAddress(found) : found;
    if (given !== undefined && given !== null) writes.push({ name, value: given, policy });
    else if (policy === 'always' && written.includes(name) && !match.includes(name)) {
      writes.push({ name, value: null, policy });
    }
  }
  return writes;
}

/** Converts a mapping's value into that of a field. An empty text is no value. @throws {FailedMapping} for a group */
function fieldValue(value: unknown, key: string): Value | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const found = textValue(value, key);
  return found === '' ? undefined : found;
}

function newIdOf({ change: { workspace, pigeonholeId, list, key } }: Subject, record: string): string {
  const parts = JSON.stringify([workspace, pigeonholeId, list, key, record]);
  const digest = createHash('sha256').update(parts).digest('hex');
  // version 8 of RFC 9562: the content is ours
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** Reads an entry's result from the item's object; null if there is none. */
export function madeRecord(found: unknown): MadeRecord | null {
  const { id, created, written, writtenAtMs }: Fields = fieldsOf(found);
  if (typeof id !== 'string' || typeof writtenAtMs !== 'number' || !Array.isArray(written)) return null;
  return { id, created: created === true, written: written as string[], writtenAtMs };
}
