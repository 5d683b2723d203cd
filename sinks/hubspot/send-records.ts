import { groupBy } from '../../base/grouping.js';
import { type BatchInput, readRecords, type RecordReply, type Sending, writeRecords } from './batch.js';
import {
  type Task,
  type ContactReference,
  type PropertyWrite,
  newContacts,
  type RecordStep,
  type UniqueValue,
  type Pair,
} from './operation.js';
import {
  decideWrites,
  needsHistory,
  needsPresent,
  neededProperties,
  type PresentValue,
  presentValues,
  timeOf,
} from './decide-writes.js';

/** A search for the record of a step. */
interface Search<S extends Searched = Searched> {
  readonly task: Task;
  readonly step: S;
  /** The record's id, once it is known. */
  id: string | null;
  /** The value that found the record. The record already has it, so it need not be written. */
  foundBy: UniqueValue | null;
  /** The record as read; undefined if it was not read or does not exist. */
  record: Readonly<Record<string, unknown>> | undefined;
  /** True if the known id leads to another record, into which the record was merged. */
  isMerged: boolean;
}

type Searched = Pick<RecordStep, 'record' | 'objectType' | 'match' | 'write'>;
type RecordSearch = Search<RecordStep>;

/**
 * Writes records of one type. If a record's id is known, it is updated by the id. Otherwise `match` finds the record,
 * or a new one is created. Steps for the same record become one update. If a known id no longer exists (because the
 * record was merged or deleted in HubSpot), the sink searches for the record again.
 *
 * Every call is harmless when repeated. Updates set values, and new records are created by an upsert with the first
 * match property, so that two concurrent attempts cannot create two records.
 */
export async function sendRecords(pairs: readonly Pair<RecordStep>[], sending: Sending): Promise<void> {
  let open = pairs.map(({ task, step }): RecordSearch => ({
    task,
    step,
    id: step.id,
    foundBy: null,
    record: undefined,
    isMerged: false,
  }));
  // Two rounds: if a record no longer exists, the second round searches for it again. If that fails too, the step waits
  // for the next attempt.
  for (let round = 0; round < 2 && open.length > 0; round += 1) {
    await readKnown(open, sending);
    await find(open.filter(needsFinding), sending);
    const gone = await update(open.filter(isOpenWithId), sending);
    await upsert(open.filter(isUnfound), sending);
    open = gone;
  }
  for (const { task, step } of open) {
    task.end({ kind: 'retry', detail: 'the record was removed in HubSpot in the meantime' }, step.record);
  }
}

const isOpen = ({ task, step }: Search): boolean => task.isOpen(step.record);
const isOpenWithId = (search: Search): boolean => isOpen(search) && search.id !== null;
const isUnfound = (search: Search): boolean => isOpen(search) && search.id === null;
const hasToRead = ({ step }: Search): boolean => step.write.some(needsPresent);
/** Whether the record must be read because it may have been merged into one that has another value of this property. */
const mayBeMerged = ({ step }: RecordSearch): boolean =>
  step.write.some(({ name, isMatch }) => isMatch && name !== step.foundBy);

/**
 * Whether the record must be found before it can be written. An upsert alone is enough if there is only one match
 * property and no write depends on a present value.
 */
function needsFinding(search: RecordSearch): boolean {
  const { step } = search;
  return isUnfound(search) && (!step.create || step.match.length > 1 || hasToRead(search));
}

/**
 * Reads records with a known id if a decision needs their present values. If a record no longer exists, sets the id of
 * its search to null.
 */
async function readKnown(open: readonly RecordSearch[], sending: Sending): Promise<void> {
  const searches = open.filter(
    (search) => isOpenWithId(search) && search.record === undefined && (hasToRead(search) || mayBeMerged(search)),
  );
  const replies = await read(searches, ({ id }) => id!, undefined, sending);
  searches.forEach((search, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'done') {
      search.record = reply.result;
      search.isMerged = String(reply.result.id) !== search.id;
    } else if (reply.kind === 'missing') search.id = null;
    else search.task.endBy(reply, search.step.record);
  });
}

/** Searches for the records by their match properties, one property after another. */
async function find(searches: readonly Search[], sending: Sending): Promise<void> {
  const longest = Math.max(0, ...searches.map(({ step }) => step.match.length));
  for (let position = 0; position < longest; position += 1) {
    const matchOf = ({ step }: Search): UniqueValue | undefined => step.match[position];
    const left = searches.filter((search) => isUnfound(search) && matchOf(search) !== undefined);
    for (const [property, group] of groupBy(left, (search) => matchOf(search)!.property)) {
      const replies = await read(group, (search) => matchOf(search)!.value, property, sending);
      group.forEach((search, index) => {
        const reply = replies[index]!;
        if (reply.kind === 'done') {
          search.id = String(reply.result.id);
          search.foundBy = matchOf(search)!;
          search.record = reply.result;
        } else if (reply.kind !== 'missing') search.task.endBy(reply, search.step.record);
      });
    }
  }
}

/** Reads the record of each search, in their order, with the properties that the decisions need. */
async function read(
  searches: readonly Search[],
  keyOf: (search: Search) => string,
  idProperty: string | undefined,
  sending: Sending,
): Promise<RecordReply[]> {
  if (searches.length === 0) return [];
  const properties = searches.flatMap(({ step }) => neededProperties(step));
  const dated = searches.flatMap(({ step }) => step.write.filter(needsHistory).map(({ name }) => name));
  const wanted = { properties, withHistory: [...new Set(dated)], idProperty };
  return await readRecords(sending, searches[0]!.step.objectType, searches.map(keyOf), wanted);
}

/** A contact that a step of another kind needs. */
interface WantedContact {
  readonly task: Task;
  /** The step's entry of `records`. */
  readonly record: string;
  readonly contact: ContactReference;
}

/**
 * Returns the id of each step's contact, and creates missing contacts if the mapping allows it. Null: there is no
 * contact. Undefined: the contact could not be determined, and the task has ended.
 */
export async function findContacts(
  wanted: readonly WantedContact[],
  sending: Sending,
): Promise<(string | null | undefined)[]> {
  const searches = wanted.map(({ task, record, contact }) => {
    const step = { record, objectType: 'contacts', match: contact.match, write: [], contact };
    const search: Search<typeof step> = { task, step, id: null, foundBy: null, record: undefined, isMerged: false };
    return search;
  });
  await find(searches, sending);
  for (const { task, id, step } of searches) {
    if (id !== null && step.contact.create && task.has(newContacts).mayExist === true) task.mayHaveCreated(id);
  }
  const creating = searches.filter((search) => isUnfound(search) && search.step.contact.create);
  for (const groups of byFirstMatch(creating)) {
    const inputs = groups.map(([first]) => upsertOf(first!.step.match[0]!, first!.step.contact.properties));
    const replies = await writeRecords(sending, 'contacts', 'upsert', inputs);
    groups.forEach((group, index) => {
      const reply = replies[index]!;
      for (const search of group) {
        const { task, step } = search;
        const mayExist = task.has(newContacts).mayExist === true;
        if (reply.kind === 'done') {
          search.id = String(reply.result.id);
          if (reply.result.new !== false) task.mayHaveCreated(search.id, mayExist);
        } else if (reply.kind !== 'missing') {
          if (reply.kind === 'failed' && reply.processed === 'maybe') task.mayHaveCreated(null);
          task.endBy(reply, step.record);
        }
      }
    });
  }
  return searches.map((search) => (isOpen(search) ? search.id : undefined));
}

/** Returns the input that creates a record, or updates the one that the value finds. */
export function upsertOf({ property, value }: UniqueValue, properties: Readonly<Record<string, string>>): BatchInput {
  const body = { idProperty: property, id: value, properties: { ...properties, [property]: value } };
  return { body, key: value, keyProperty: property };
}

/** The steps that write one record, and their writes. */
interface Merged {
  readonly searches: readonly RecordSearch[];
  /** The writes of each step, in order. */
  readonly writes: readonly ReadonlyMap<string, string>[];
}

/** Updates records by id, each once. @returns the searches whose record no longer exists, without the id */
async function update(searches: readonly RecordSearch[], sending: Sending): Promise<RecordSearch[]> {
  const merged = [...groupBy(searches, ({ id }) => id!).values()].map((group) => mergedFor(group, sending));
  for (const { searches: group, writes } of merged.filter(({ writes }) => all(writes).size === 0)) {
    const atMs = sending.now();
    group.forEach((search, at) => wrote(search, { id: search.id!, values: writes[at]!, atMs, isNew: false }));
  }
  const changing = merged.filter(({ writes }) => all(writes).size > 0);
  const gone = await write(changing, 'update', sending);
  for (const search of gone) Object.assign(search, { id: null, record: undefined, isMerged: false });
  return gone;
}

/** Creates records, or updates those that the first match property finds. */
async function upsert(searches: readonly RecordSearch[], sending: Sending): Promise<void> {
  for (const { task, step } of searches) {
    if (step.create && step.match.length > 0) continue;
    task.note(
      step.create
        ? `${step.objectType} ${step.id} was removed in HubSpot, and the item has no value that could identify another record`
        : `no ${step.objectType} record matches and "create" is false, so none was written`,
    );
    if (step.id !== null) task.made(step.record, null);
  }
  const creating = searches.filter(({ step }) => step.create && step.match.length > 0);
  for (const groups of byFirstMatch(creating)) {
    const merged = groups.map((group) => mergedFor(group, sending));
    for (const { task, step } of await write(merged, 'upsert', sending)) task.endBy({ kind: 'missing' }, step.record);
  }
}

/**
 * Groups searches for one call each, because HubSpot accepts only one match property in a call, and within it by the
 * property's value.
 */
function byFirstMatch<S extends Search>(searches: readonly S[]): S[][][] {
  const alike = groupBy(searches, ({ step }) => step.match[0]!.property);
  return [...alike.values()].map((group) => [
    ...groupBy(group, ({ step }) => step.match[0]!.value.toLowerCase()).values(),
  ]);
}

/**
 * Writes all records in one batch call. If HubSpot refuses a record that merges several steps, sends these steps one at
 * a time.
 * @returns the searches whose record no longer exists
 */
async function write(merged: readonly Merged[], how: 'update' | 'upsert', sending: Sending): Promise<RecordSearch[]> {
  if (merged.length === 0) return [];
  const inputs = merged.map(({ searches: [first], writes }): BatchInput => {
    const properties = Object.fromEntries(all(writes));
    if (how === 'upsert') return upsertOf(first!.step.match[0]!, properties);
    return { body: { id: first!.id, properties }, key: first!.id! };
  });
  const replies = await writeRecords(sending, merged[0]!.searches[0]!.step.objectType, how, inputs);
  const gone: RecordSearch[] = [];
  const apart: Merged[][] = [];
  merged.forEach(({ searches, writes }, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'rejected' && searches.length > 1) {
      apart.push(searches.map((search, at) => ({ searches: [search], writes: [writes[at]!] })));
    } else if (reply.kind === 'missing') gone.push(...searches);
    else if (reply.kind !== 'done') {
      const mayExist = how === 'upsert' && reply.kind === 'failed' && reply.processed === 'maybe';
      for (const { task, step } of searches) {
        if (mayExist) task.made(step.record, { mayExist });
        task.endBy(reply, step.record);
      }
    } else {
      const id = String(reply.result.id);
      const updatedAtMs = timeOf(reply.result.updatedAt);
      const atMs = Number.isNaN(updatedAtMs) ? sending.now() : updatedAtMs;
      searches.forEach((search, at) => {
        if (how === 'upsert' && reply.result.new === false) search.foundBy ??= search.step.match[0]!;
        wrote(search, { id, values: writes[at]!, atMs, isNew: reply.result.new === true && at === 0 });
        const { happenedAtMs } = search.step;
        for (const name of writes[at]!.keys()) sending.times.remember(id, name, { happenedAtMs, writtenAtMs: atMs });
      });
    }
  });
  // One after another, because they write the same record, and the last one must win.
  const longest = Math.max(0, ...apart.map((each) => each.length));
  for (let turn = 0; turn < longest; turn += 1) {
    const next = apart.flatMap((each) => each[turn] ?? []);
    gone.push(...(await write(next, how, sending)));
  }
  return gone;
}

/** Decides the writes of the steps for one record. Each decision takes the writes of earlier steps into account. */
function mergedFor(searches: readonly RecordSearch[], { times }: Sending): Merged {
  const present = new Map<string, PresentValue>();
  for (const { record, step } of searches) {
    if (record !== undefined) for (const [name, value] of presentValues(record, step, times)) present.set(name, value);
  }
  const writes = searches.map((search) => {
    const { step, record } = search;
    const wanted = step.write.filter((each) => !identifiesOther(search, each));
    // A property that was not read may have any value.
    const known = record === undefined ? present : new Map([...present].filter(([name]) => isRead(step, name)));
    const decided = decideWrites(clearingOnlyOurs(wanted, step, searches), known, step.happenedAtMs);
    for (const [name, value] of decided) present.set(name, { value, happenedAtMs: step.happenedAtMs });
    return decided;
  });
  return { searches, writes };
}

/**
 * Whether a property is not written because the record was found by it, now or earlier. The record then has the value as
 * its own or as an additional one, and pigeonpost must not replace the one that people see.
 */
function identifiesOther({ step, id, foundBy, isMerged }: RecordSearch, { name, isMatch }: PropertyWrite): boolean {
  if (name === foundBy?.property) return true;
  return isMatch === true && (isMerged || (id !== null && id === step.id && name === step.foundBy));
}

function isRead(step: RecordStep, name: string): boolean {
  return neededProperties(step).includes(name);
}

/** Removes a write that clears a property if another step for the same record has a value for the property. */
function clearingOnlyOurs(
  writes: RecordStep['write'],
  step: RecordStep,
  searches: readonly RecordSearch[],
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
function wrote(search: RecordSearch, { id, values: written, atMs, isNew: created }: Wrote): void {
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
  const merged = search.isMerged ? (step.write.find(({ isMatch }) => isMatch)?.name ?? null) : null;
  const foundByNow = search.foundBy?.property ?? merged ?? (same ? step.foundBy : null);
  const made = {
    id,
    sinceMs: same ? (step.sinceMs ?? atMs) : atMs,
    writtenAtMs,
    ...(Object.keys(tellsOfMs).length > 0 && { tellsOfMs }),
    ...((created || (same && step.created)) && { created: true }),
    ...(foundByNow !== null && { foundBy: foundByNow }),
    ...(step.contactId !== null && { contactId: step.contactId }),
    ...(same && step.listsBefore.length > 0 && { lists: step.listsBefore }),
  };
  task.made(step.record, made);
  search.id = id;
}
