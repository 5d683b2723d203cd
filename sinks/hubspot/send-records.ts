import { groupBy } from '../../base/group-by.js';
import { type BatchCall, type BatchInput, type RecordReply, runBatch, type Task } from './batch.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { HubSpotClient } from './client.js';
import {
  decideWrites,
  needsHistory,
  needsPresent,
  neededProperties,
  type PresentValue,
  presentValues,
  timeOf,
  type EventTimes,
} from './decide-writes.js';
import type { RecordStep, UniqueValue } from './operation.js';

export interface Sending {
  readonly client: HubSpotClient;
  readonly times: EventTimes;
  readonly budget: CallBudget;
  /** Unix time in ms. */
  readonly now: () => number;
}

/** A step, and the record that was found for it. */
interface Search {
  readonly task: Task;
  readonly step: RecordStep;
  /** The record's id, once it is known. */
  id: string | null;
  /** The value that found the record. The record already has it, so it need not be written. */
  foundBy: UniqueValue | null;
  /** The record as read; undefined if it was not read or does not exist. */
  record: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Writes records of one type. If a record's id is known, it is updated by the id. Otherwise `match` finds the record,
 * or a new one is created. Steps for the same record become one update. If a known id no longer exists (because the
 * record was merged or deleted in HubSpot), the sink searches for the record again.
 *
 * Every call is harmless when repeated. Updates set values, and new records are created by an upsert with the first
 * match property, so that two concurrent attempts cannot create two records.
 */
export async function sendRecords(
  pairs: readonly { readonly task: Task; readonly step: RecordStep }[],
  objectType: string,
  sending: Sending,
): Promise<void> {
  let open: Search[] = pairs.map(({ task, step }) => ({
    task,
    step,
    id: step.id,
    foundBy: null,
    record: undefined,
  }));
  // Two rounds: if a record no longer exists, the second round searches for it again. If that fails too, the step waits
  // for the next attempt.
  for (let round = 0; round < 2 && open.length > 0; round += 1) {
    await readKnown(open, objectType, sending);
    await find(open.filter(needsFinding), objectType, sending);
    const gone = await update(open.filter(isOpenWithId), objectType, sending);
    await upsert(
      open.filter((search) => isOpen(search) && search.id === null),
      objectType,
      sending,
    );
    open = gone;
  }
  for (const { task, step } of open) {
    task.end({ kind: 'retry', detail: 'the record was removed in HubSpot in the meantime' }, step.record);
  }
}

const isOpen = ({ task, step }: Search): boolean => task.isOpen(step.record);
const isOpenWithId = (search: Search): boolean => isOpen(search) && search.id !== null;
const hasToRead = ({ step }: Search): boolean => step.write.some(needsPresent);

/**
 * Whether the record must be found before it can be written. An upsert alone is enough if there is only one match
 * property and no write depends on a present value.
 */
function needsFinding(search: Search): boolean {
  const { step } = search;
  return isOpen(search) && search.id === null && (!step.create || step.match.length > 1 || hasToRead(search));
}

/**
 * Reads records with a known id if a decision needs their present values. If a record no longer exists, sets the id of
 * its search to null.
 */
async function readKnown(open: readonly Search[], objectType: string, sending: Sending): Promise<void> {
  const searches = open.filter((search) => isOpenWithId(search) && search.record === undefined && hasToRead(search));
  const replies = await read(
    searches.map((search) => ({ search, key: search.id! })),
    objectType,
    undefined,
    sending,
  );
  searches.forEach((search, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'done') search.record = reply.result;
    else if (reply.kind === 'missing') search.id = null;
    else search.task.endBy(reply, search.step.record);
  });
}

/** Searches for the records by their match properties, one property after another. */
async function find(searches: readonly Search[], objectType: string, sending: Sending): Promise<void> {
  const longest = Math.max(0, ...searches.map(({ step }) => step.match.length));
  for (let position = 0; position < longest; position += 1) {
    const left = searches.filter((search) => isOpen(search) && search.id === null && search.step.match[position]);
    for (const [property, group] of groupBy(left, ({ step }) => step.match[position]!.property)) {
      const asked = group.map((search) => ({ search, key: search.step.match[position]!.value }));
      const replies = await read(asked, objectType, property, sending);
      group.forEach((search, index) => {
        const reply = replies[index]!;
        if (reply.kind === 'done') {
          search.id = String(reply.result.id);
          search.foundBy = search.step.match[position]!;
          search.record = reply.result;
        } else if (reply.kind !== 'missing') search.task.endBy(reply, search.step.record);
      });
    }
  }
}

/** Maximum number of records in a read that includes the history of properties. Source: HubSpot, "Contacts", "Read". */
const MAX_WITH_HISTORY = 50;

/** Reads the record of each search, in their order. Searches with the same key share one read. */
async function read(
  asked: readonly { readonly search: Search; readonly key: string }[],
  objectType: string,
  idProperty: string | undefined,
  { client, budget }: Sending,
): Promise<RecordReply[]> {
  if (asked.length === 0) return [];
  const writes = asked.flatMap(({ search }) => search.step.write);
  const history = [...new Set(writes.filter(needsHistory).map(({ name }) => name))];
  const present = asked.flatMap(({ search }) => neededProperties(search.step));
  const properties = [...new Set([...present, ...(idProperty === undefined ? [] : [idProperty])])];
  if (idProperty === 'email') properties.push('hs_additional_emails');
  const keys = [...new Set(asked.map(({ key }) => key))];
  const call: BatchCall = {
    path: client.paths.objects(objectType, 'batch/read'),
    fields: {
      properties,
      propertiesWithHistory: history, // HubSpot's specification requires both lists, even if they are empty
      ...(idProperty !== undefined && { idProperty }),
    },
    ...(history.length > 0 && { max: MAX_WITH_HISTORY }),
    traced: false,
    silence: 'missing',
  };
  const inputs = keys.map((key): BatchInput => ({
    body: { id: key },
    key,
    ...(idProperty !== undefined && { keyProperty: idProperty }),
  }));
  const replies = await runBatch(client, call, inputs, budget);
  const byKey = new Map(keys.map((key, index) => [key, replies[index]!]));
  return asked.map(({ key }) => byKey.get(key)!);
}

/** The steps that write one record, and their writes. */
interface Merged {
  readonly searches: readonly Search[];
  /** The writes of each step, in order. */
  readonly writes: readonly ReadonlyMap<string, string>[];
}

/** Updates records by id, each once. @returns the searches whose record no longer exists, without the id */
async function update(searches: readonly Search[], objectType: string, sending: Sending): Promise<Search[]> {
  const gone: Search[] = [];
  const merged = [...groupBy(searches, ({ id }) => id!).values()].map((group) => mergedFor(group, sending));
  for (const { searches: group, writes } of merged.filter(({ writes }) => all(writes).size === 0)) {
    const atMs = sending.now();
    group.forEach((search, at) => wrote(search, { id: search.id!, values: writes[at]!, atMs, isNew: false }));
  }
  const how: WriteCall = {
    path: sending.client.paths.objects(objectType, 'batch/update'),
    toInput: ({ searches: [first] }, properties) => ({ body: { id: first!.id, properties }, key: first!.id! }),
    missing(search) {
      search.id = null;
      search.record = undefined;
      gone.push(search);
    },
  };
  await write(
    merged.filter(({ writes }) => all(writes).size > 0),
    how,
    sending,
  );
  return gone;
}

/** Creates records, or updates those that the first match property finds. */
async function upsert(searches: readonly Search[], objectType: string, sending: Sending): Promise<void> {
  for (const { task, step } of searches.filter(({ step }) => !step.create)) {
    task.note(`no ${objectType} record matches and "create" is false, so none was written`);
    if (step.id !== null) task.made(step.record, null);
  }
  const creating = searches.filter(({ step }) => step.create && step.match.length > 0);
  for (const { task, step } of searches.filter(({ step }) => step.create && step.match.length === 0)) {
    task.note(
      `${objectType} ${step.id} was removed in HubSpot, and the item has no value that could identify another record`,
    );
    task.made(step.record, null);
  }
  const how: WriteCall = {
    path: sending.client.paths.objects(objectType, 'batch/upsert'),
    toInput({ searches: [first] }, properties) {
      const { property, value } = first!.step.match[0]!;
      const body = { idProperty: property, id: value, properties: { ...properties, [property]: value } };
      return { body, key: value, keyProperty: property };
    },
    missing: (search) => search.task.endBy({ kind: 'missing' }, search.step.record),
  };
  // HubSpot accepts only one match property in a call.
  for (const alike of groupBy(creating, ({ step }) => step.match[0]!.property).values()) {
    const byValue = groupBy(alike, ({ step }) => step.match[0]!.value.toLowerCase());
    const merged = [...byValue.values()].map((group) => mergedFor(group, sending));
    await write(merged, how, sending);
  }
}

/** A call that writes records. */
interface WriteCall {
  readonly path: string;
  readonly toInput: (merged: Merged, properties: Readonly<Record<string, string>>) => BatchInput;
  /** Called if the record of this step no longer exists. */
  readonly missing: (search: Search) => void;
}

/**
 * Writes all records in one batch call. If HubSpot refuses a record that merges several steps, sends these steps one at
 * a time.
 */
async function write(merged: readonly Merged[], how: WriteCall, sending: Sending): Promise<void> {
  if (merged.length === 0) return;
  const { path, toInput, missing } = how;
  const call = { path, traced: true, silence: 'failed' } as const;
  const inputs = merged.map((each) => toInput(each, Object.fromEntries(all(each.writes))));
  const replies = await runBatch(sending.client, call, inputs, sending.budget);
  const apart: Merged[][] = [];
  merged.forEach(({ searches, writes }, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'rejected' && searches.length > 1) {
      apart.push(searches.map((search, at) => ({ searches: [search], writes: [writes[at]!] })));
      return;
    }
    searches.forEach((search, at) => {
      if (reply.kind === 'missing') missing(search);
      else if (reply.kind !== 'done') search.task.endBy(reply, search.step.record);
      else {
        const { id, updatedAt } = reply.result;
        const updatedAtMs = timeOf(updatedAt);
        const atMs = Number.isNaN(updatedAtMs) ? sending.now() : updatedAtMs;
        const isNew = reply.result.new === true && at === 0;
        wrote(search, { id: String(id), values: writes[at]!, atMs, isNew });
        for (const [name] of writes[at]!) {
          const { happenedAtMs } = search.step;
          sending.times.remember(String(id), name, { happenedAtMs, writtenAtMs: atMs });
        }
      }
    });
  });
  // One after another, because they write the same record, and the last one must win.
  const longest = Math.max(0, ...apart.map((each) => each.length));
  for (let turn = 0; turn < longest; turn += 1) {
    await write(
      apart.flatMap((each) => each[turn] ?? []),
      how,
      sending,
    );
  }
}

/** Decides the writes of the steps for one record. Each decision takes the writes of earlier steps into account. */
function mergedFor(searches: readonly Search[], { times }: Sending): Merged {
  const present = new Map<string, PresentValue>();
  for (const { record, step } of searches) {
    if (record !== undefined) for (const [name, value] of presentValues(record, step, times)) present.set(name, value);
  }
  const writes = searches.map(({ step, foundBy, record }) => {
    const wanted = step.write.filter(({ name }) => name !== foundBy?.property);
    // A property that was not read may have any value.
    const known = record === undefined ? present : new Map([...present].filter(([name]) => isRead(step, name)));
    const decided = decideWrites(clearingOnlyOurs(wanted, step, searches), known, step.happenedAtMs);
    for (const [name, value] of decided) present.set(name, { value, happenedAtMs: step.happenedAtMs });
    return decided;
  });
  return { searches, writes };
}

function isRead(step: RecordStep, name: string): boolean {
  return neededProperties(step).includes(name);
}

/** Removes a write that clears a property if another step for the same record has a value for the property. */
function clearingOnlyOurs(
  writes: RecordStep['write'],
  step: RecordStep,
  searches: readonly Search[],
): RecordStep['write'] {
  const given = new Set(
    searches
      .filter((other) => other.step !== step)
      .flatMap((other) => other.step.write.filter(({ value }) => value !== '').map(({ name }) => name)),
  );
  return writes.filter(({ name, value }) => value !== '' || !given.has(name));
}

function all(writes: readonly ReadonlyMap<string, string>[]): Map<string, string> {
  return new Map(writes.flatMap((each) => [...each]));
}

interface Wrote {
  readonly id: string;
  readonly values: ReadonlyMap<string, string>;
  readonly atMs: number;
  readonly isNew: boolean;
}

/** Sets the entry's part of the item's object after the write. */
function wrote(search: Search, { id, values: written, atMs, isNew: created }: Wrote): void {
  const { task, step } = search;
  const same = step.id === id;
  const writtenAtMs: Record<string, number> = same ? { ...step.writtenAtMs } : {};
  for (const [name, value] of written) {
    if (value === '') Reflect.deleteProperty(writtenAtMs, name);
    else writtenAtMs[name] = atMs;
  }
  const dated = step.write.filter((each) => needsHistory(each) && written.has(each.name));
  const tellsOfMs: Record<string, number> = same ? { ...step.tellsOfMs } : {};
  for (const { name } of dated) tellsOfMs[name] = step.happenedAtMs;
  const made = {
    id,
    sinceMs: same ? (step.sinceMs ?? atMs) : atMs,
    writtenAtMs,
    ...(Object.keys(tellsOfMs).length > 0 && { tellsOfMs }),
    ...((created || (same && step.created)) && { created: true }),
    ...(step.contactId !== null && { contactId: step.contactId }),
    ...(same && step.listsBefore.length > 0 && { lists: step.listsBefore }),
  };
  task.made(step.record, made);
  search.id = id;
}
