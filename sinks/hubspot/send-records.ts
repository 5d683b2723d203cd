import { groupBy } from '../../base/grouping.js';
import type { Value, ValueRules } from '../records/decide-values.js';
import type { WriteReply } from '../records/reply.js';
import type { Draft, Group } from '../records/write-merged.js';
import { type RecordVendor, writeRecords as writeFound } from '../records/write-records.js';
import { fieldsOf } from '../sink.js';
import { type BatchInput, notFound, type RecordReply, type Sending, writeRecords } from './batch.js';
import { lifecycleStage, mayMoveStage } from './lifecycle-stage.js';
import type { PropertyWrite, RecordStep, UniqueValue, Pair } from './operation.js';
import { nameParts, needsHistory, needsPresent, presentValues, timeOf } from './present-values.js';
import { Search, find, read } from './find-records.js';

type RecordSearch = Search<RecordStep>;
type RecordDraft = Draft<RecordSearch, Group<RecordSearch>>;

/**
 * Writes records of one type. If a record's id is known, it is updated by the id. Otherwise `match` finds the record,
 * or a new one is created.
 *
 * Every call is harmless when repeated. Updates set values, and new records are created by an upsert with the first
 * match property, so that two concurrent attempts cannot create two records.
 */
export async function sendRecords(pairs: readonly Pair<RecordStep>[], sending: Sending): Promise<void> {
  const searches = pairs.map(({ task, step }) => {
    const search = new Search(task, step, step.happenedAtMs);
    search.id = step.id;
    return search;
  });
  await writeFound(searches, new HubSpotRecords(sending));
}

export const rules: ValueRules = {
  nameParts,
  mayChange: (name, from, to) =>
    name !== lifecycleStage || mayMoveStage(typeof from === 'string' ? from : '', String(to ?? '')),
};

class HubSpotRecords implements RecordVendor<RecordSearch, Group<RecordSearch>> {
  readonly rules = rules;

  constructor(private readonly sending: Sending) {}

  async readKnown(jobs: readonly RecordSearch[]): Promise<void> {
    const searches = jobs.filter((search) => hasToRead(search) || mayBeMerged(search));
    const replies = await read(searches, ({ id }) => id!, undefined, this.sending);
    searches.forEach((search, index) => {
      const reply = replies[index]!;
      if (reply.kind === 'done') {
        search.record = reply.result;
        search.isMerged = String(reply.result.id) !== search.id;
      } else if (reply.kind === 'missing') search.id = null;
      else search.task.endBy(reply, search.step.record);
    });
  }

  async find(jobs: readonly RecordSearch[]): Promise<void> {
    for (const search of jobs) Object.assign(search, { record: undefined, isMerged: false });
    await find(jobs.filter(needsFinding), this.sending);
  }

  mayCreate({ task, step }: RecordSearch): boolean {
    if (step.create && step.match.length > 0) return true;
    task.note(
      step.create
        ? `${step.objectType} ${step.id} was removed in HubSpot, and the item has no value that could identify another record`
        : `no ${step.objectType} record matches and "create" is false, so none was written`,
    );
    if (step.id !== null || step.isUnsure) task.made(step.record, null);
    return false;
  }

  newNamesOf({ step: { match } }: RecordSearch): string[] {
    return [`${match[0]!.property} ${match[0]!.value.toLowerCase()}`];
  }

  groupOf(id: string | null, members: readonly RecordSearch[]): Group<RecordSearch> {
    return { id, members };
  }

  writesOf(search: RecordSearch): PropertyWrite[] {
    return search.step.write.filter((write) => !identifiesOther(search, write));
  }

  presentOf({ record, step }: RecordSearch): ReturnType<typeof presentValues> {
    return record === undefined ? new Map() : presentValues(record, step, this.sending.times);
  }

  async write(drafts: readonly RecordDraft[]): Promise<WriteReply[]> {
    const replies = new Map<RecordDraft, WriteReply>();
    // HubSpot accepts only one match property in a call.
    for (const alike of groupBy(drafts, howOf).values()) {
      const how = alike[0]!.group.id === null ? 'upsert' : 'update';
      const { objectType } = alike[0]!.members[0]!.step;
      const written = await writeRecords(this.sending, objectType, how, alike.map(draftInput));
      alike.forEach((draft, index) => replies.set(draft, writeReplyOf(written[index]!, how, this.sending)));
    }
    return drafts.map((draft) => replies.get(draft)!);
  }

  wrote({ group, members, valuesOf }: RecordDraft, reply: Extract<WriteReply, { kind: 'written' }> | null): void {
    const id = reply?.id ?? group.id!;
    const atMs = reply?.atMs ?? this.sending.now();
    members.forEach((search, at) => {
      // HubSpot updated the record into which the known one was merged.
      if (group.id !== null && id !== group.id) search.isMerged = true;
      if (group.id === null && reply?.isNew === false) search.foundBy ??= search.step.match[0]!;
      const { happenedAtMs } = search.step;
      for (const name of valuesOf(search).keys()) {
        this.sending.times.remember(id, name, { happenedAtMs, writtenAtMs: atMs });
      }
      wrote(search, { id, values: valuesOf(search), atMs, isNew: reply?.isNew === true && at === 0 });
    });
  }

  unanswered({ group: { id }, members }: RecordDraft): void {
    for (const { task, step, foundBy, isMerged } of members) {
      const known = id === step.id ? fieldsOf(task.operation.object?.[step.record]) : {};
      const found = { id, ...(foundBy !== null && { foundBy: foundBy.property }), ...(isMerged && { isMerged }) };
      const sinceMs = this.sending.now();
      task.made(step.record, { sinceMs, ...known, ...(id === null ? { creating: true } : found), mayExist: true });
    }
  }
}

const hasToRead = ({ step }: Search): boolean => step.write.some(needsPresent);
/** Whether the record must be read because it may have been merged into one that has another value of this property. */
const mayBeMerged = ({ step }: RecordSearch): boolean =>
  !step.isMerged && step.write.some(({ name, isMatch }) => isMatch && name !== step.foundBy);

/**
 * Whether the record must be found before it can be written. An upsert alone is enough if there is only one match
 * property and no write depends on a present value.
 */
function needsFinding(search: RecordSearch): boolean {
  const { step } = search;
  return !step.create || step.match.length > 1 || hasToRead(search);
}

function howOf({ group, members }: RecordDraft): string {
  return group.id === null ? `upsert by ${members[0]!.step.match[0]!.property}` : 'update';
}

function draftInput({ group: { id }, members, values }: RecordDraft): BatchInput {
  if (id !== null) return inputOf({ id, values: Object.fromEntries(values) });
  return upsertOf(members[0]!.step.match[0]!, propertiesOf(Object.fromEntries(values)));
}

/** Returns the input that updates a record. */
export function inputOf({
  id,
  values,
}: {
  readonly id: string;
  readonly values: Readonly<Record<string, Value>>;
}): BatchInput {
  return { body: { id, properties: propertiesOf(values) }, key: id };
}

function propertiesOf(values: Readonly<Record<string, Value>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, propertyText(value)]));
}

/** Returns a value as HubSpot expects it: an empty text clears the property. */
export function propertyText(value: Value): string {
  return String(value ?? '');
}

/** Returns the reply to an update or upsert in the form of the record engine. */
export function writeReplyOf(reply: RecordReply, how: 'update' | 'upsert', { now }: Sending): WriteReply {
  switch (reply.kind) {
    case 'done': {
      const updatedAtMs = timeOf(reply.result.updatedAt);
      return {
        kind: 'written',
        id: String(reply.result.id),
        isNew: typeof reply.result.new === 'boolean' ? reply.result.new : undefined,
        atMs: Number.isNaN(updatedAtMs) ? now() : updatedAtMs,
      };
    }
    case 'missing':
      return how === 'update' ? reply : { kind: 'refused', result: notFound };
    case 'rejected':
      return { kind: 'refused', result: reply };
    case 'failed':
      return reply;
  }
}

/** Returns the input that creates a record, or updates the one that the value finds. */
export function upsertOf({ property, value }: UniqueValue, properties: Readonly<Record<string, string>>): BatchInput {
  const body = { idProperty: property, id: value, properties: { ...properties, [property]: value } };
  return { body, key: value, keyProperty: property };
}

/**
 * Whether a property is not written because the record was found by it, now or earlier. The record then has the value as
 * its own or as an additional one, and pigeonpost must not replace the one that people see.
 */
export function identifiesOther(
  { step, id, foundBy, isMerged }: Pick<RecordSearch, 'step' | 'id' | 'foundBy' | 'isMerged'>,
  { name, isMatch }: PropertyWrite,
): boolean {
  if (step.isCreating) return false;
  if (name === foundBy?.property) return true;
  const isKnown = id !== null && id === step.id;
  return isMatch === true && (isMerged || (isKnown && (step.isMerged || name === step.foundBy)));
}

interface Wrote {
  readonly id: string;
  readonly values: ReadonlyMap<string, Value>;
  readonly atMs: number;
  readonly isNew: boolean;
}

/** Sets the entry's part of the item's object after the write. */
function wrote(search: RecordSearch, { id, values: written, atMs, isNew: created }: Wrote): void {
  const { task, step } = search;
  const same = step.id === id;
  const writtenAtMs: Record<string, number> = same ? { ...step.writtenAtMs } : {};
  for (const [name, value] of written) {
    if (value === null) Reflect.deleteProperty(writtenAtMs, name);
    else writtenAtMs[name] = atMs;
  }
  const dated = step.write.filter((each) => needsHistory(each) && written.has(each.name));
  const tellsOfMs: Record<string, number> = same ? { ...step.tellsOfMs } : {};
  for (const { name } of dated) tellsOfMs[name] = step.happenedAtMs;
  const foundByNow = step.isCreating ? null : (search.foundBy?.property ?? (same ? step.foundBy : null));
  // If an earlier attempt may have written the record, the values may be of that attempt.
  const sinceMs = same ? step.sinceMs : step.isUnsure ? (step.sinceMs ?? 0) : null;
  const made = {
    id,
    sinceMs: sinceMs ?? atMs,
    writtenAtMs,
    ...(Object.keys(tellsOfMs).length > 0 && { tellsOfMs }),
    ...((created || (same && step.created)) && { created: true }),
    ...(foundByNow !== null && { foundBy: foundByNow }),
    ...((search.isMerged || (same && step.isMerged)) && { isMerged: true }),
    // Nobody knows whether an attempt of a process that died has created the record that was found.
    ...(step.isUnsure && !step.isCreating && !same && !created && { mayExist: true }),
    ...(step.contactId !== null && { contactId: step.contactId }),
    ...(same && step.listsBefore.length > 0 && { lists: step.listsBefore }),
  };
  task.made(step.record, made);
}
