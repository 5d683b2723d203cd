import { groupBy } from '../../base/grouping.js';
import { differingFields } from '../records/differing-fields.js';
import { isOwnChange, type PresentRecord, presentValues } from '../records/present-record.js';
import type { Value, ValueRules, ValueWrite } from '../records/decide-values.js';
import { compareParts, ReadItem, type ReadJob, readJobs } from '../records/read-item.js';
import { type RecordWrites, type SharedRecords, type SharedWrite, writesOfOthers } from '../records/shared-records.js';
import { RecordTask } from '../records/record-task.js';
import type { ExtraHeld, Fields, HeldResult, Lane, Outcome, ReadBack } from '../sink.js';
import type { PersonType } from './config.js';
import { findByIds, type PersonRow, textOf } from './find-people.js';
import { clearedFields, mergedRecords } from './forget-people.js';
import { resolveLookups } from './lookups.js';
import { conformValue, type FieldFacts, factsOf, isSameField, type ObjectFacts, type Org } from './object-fields.js';
import {
  CallFailure,
  CallsEnded,
  Job,
  linkedRecordOf,
  type ForgetStep,
  type LeaveStep,
  type LinkedStep,
  type PersonStep,
  type RemoteMember,
  remoteRecordOf,
  type SalesforceOperation,
  type Step,
  type UnlinkStep,
} from './operation.js';
import { queryAll, type Row, soqlNumber, soqlText } from './query.js';
import { deleteRecords, replyOf, type Written, writeRecords } from './write-records.js';

/** The data that comparing a step with its record needs. Personal data: kept in memory only. */
interface Held {
  readonly record: PresentRecord;
  readonly facts: ObjectFacts;
  readonly writtenAtMs: number;
  /** The writes to look-up fields, whose ids were found. */
  readonly lookups: readonly ValueWrite[];
  /** Whether the record is of another object than the entry's, so that fields that it lacks are left out. */
  readonly isOtherObject: boolean;
  /** The external id that this sink wrote to the record; null if it wrote none. */
  readonly key: { readonly name: string; readonly value: string } | null;
  /** The campaign member; null if it does not exist, undefined if none is expected. */
  readonly member?: { readonly record: PresentRecord; readonly facts: ObjectFacts } | null;
  /** Fields, in lower case, whose value belongs to another item with the same record. */
  readonly ofOthers: ReadonlySet<string>;
}

type Item = ReadItem<Step, Held | null>;
type Reading<S extends Step> = ReadJob<S, Step, Held | null>;

const REFUSED = 'salesforce:not-readable';
/** The fields that say who changed a record and when. */
const AUTHOR = ['LastModifiedDate', 'LastModifiedById'];

function removes({ kind }: Step): boolean {
  return kind === 'forget' || kind === 'unlink' || kind === 'leave';
}

/**
 * Reads what an org holds of items: people with their campaign members, and the records that belong to people. Only
 * reads.
 */
export async function readBackItems(
  org: Org,
  wanted: readonly ReadBack<SalesforceOperation>[],
  lane: Lane,
  shared: SharedRecords,
): Promise<HeldResult[]> {
  const items = wanted.map((entry): Item => {
    return new ReadItem(entry, entry.operation?.steps ?? removalSteps(entry.object), { removes, refused: REFUSED });
  });
  const reader = new Reader(org, lane, shared);
  await stage(readJobs(items, 'person'), (due) => reader.people(due));
  await stage(readJobs(items, 'forget'), (due) => reader.forgotten(due));
  await stage(readJobs(items, 'leave'), (due) => reader.left(due));
  await stage(readJobs(items, 'linked'), (due) => reader.linked(due));
  await stage(readJobs(items, 'unlink'), (due) => reader.unlinked(due));
  return items.map((item) => item.result());
}

async function stage<J extends Reading<Step>>(jobs: readonly J[], read: (due: readonly J[]) => Promise<void>) {
  if (jobs.length === 0) return;
  try {
    await read(jobs);
  } catch (error) {
    if (!(error instanceof CallFailure || error instanceof CallsEnded)) throw error;
    for (const job of jobs) job.end(error instanceof CallFailure ? error.result : { kind: 'unsent' });
  }
}

/** Returns the steps that would remove what an item's object names, if an operator has to remove it. */
function removalSteps(object: Fields | null): Step[] {
  return Object.keys(object ?? {}).flatMap((record): Step[] => {
    const person = remoteRecordOf(object, record);
    if (person !== null) return [{ kind: 'forget', record, how: 'delete', known: person, keyField: null }];
    const linked = linkedRecordOf(object, record);
    return linked === null ? [] : [{ kind: 'unlink', record, known: linked }];
  });
}

/** Returns the names of the parts and fields in which an org differs from an operation. Pure. */
export function compareItem(operation: SalesforceOperation, held: unknown): string[] {
  return compareParts<Step, Held | null>(operation, held, removes, (step, facts) => {
    if (facts === null) return [];
    if (step.kind === 'person') return [...differingIn(step, facts), ...differingMember(step, facts)];
    return step.kind === 'linked' ? differingIn(step, facts) : [];
  });
}

function differingIn(step: PersonStep | LinkedStep, held: Held): string[] {
  const { facts, isOtherObject, key, ofOthers, record } = held;
  const writes = conformed([...step.writes, ...held.lookups], facts, isOtherObject);
  const happenedAtMs = step.kind === 'person' ? step.happenedAtMs : 0;
  const present = presentValues(record, { writtenAtMs: held.writtenAtMs, isOurs: false });
  const keyWrite: ValueWrite[] = key === null ? [] : [{ ...key, policy: 'always' }];
  return differingFields([...writes, ...keyWrite], present, happenedAtMs, rulesOf(facts)).filter(
    (name) => !ofOthers.has(name.toLowerCase()),
  );
}

/**
 * A membership that was removed differs. The status does not: pigeonpost sets it once, and users may change it. Fields of
 * the member are compared.
 */
function differingMember({ campaign, happenedAtMs }: PersonStep, { member, writtenAtMs, ofOthers }: Held): string[] {
  if (campaign === null || member === undefined) return [];
  if (member === null) return ['campaign'];
  const { facts, record } = member;
  const writes = conformed(campaign.memberWrites, facts, false);
  const present = presentValues(record, { writtenAtMs, isOurs: false });
  return differingFields(writes, present, happenedAtMs, { isSame: rulesOf(facts).isSame! })
    .filter((name) => !ofOthers.has(memberField(name)))
    .map((name) => `campaign.${name}`);
}

/** Returns the writes in the form of their fields. Leaves out values that Salesforce does not accept. */
function conformed(writes: readonly ValueWrite[], { fields }: ObjectFacts, isOtherObject: boolean): ValueWrite[] {
  return writes.flatMap((write): ValueWrite[] => {
    const known = fields.get(write.name.toLowerCase());
    if (known === undefined || (isOtherObject && !known.updateable)) return [];
    if (write.value === null && !known.nillable && known.type !== 'boolean') return [];
    const value = conformValue(write.value, known);
    return value === undefined ? [] : [{ ...write, name: known.name, value }];
  });
}

function rulesOf({ fields }: ObjectFacts): ValueRules {
  const isSame = (name: string, present: unknown, value: Value): boolean =>
    isSameField(fields.get(name.toLowerCase()), present, value);
  return { nameParts: ['firstname', 'lastname'], isSame };
}

/** Returns the writes in an item's object, for items that share a record. */
export function recordWritesIn(object: Fields): RecordWrites[] {
  return Object.keys(object).flatMap((name): RecordWrites[] => {
    const made = remoteRecordOf(object, name);
    if (made === null) {
      const linked = linkedRecordOf(object, name);
      return linked === null ? [] : [{ record: linked.id, writtenAtMs: new Map() }];
    }
    const { id, written, writtenAtMs, member } = made;
    const fields = [...written.map((field) => field.toLowerCase()), ...(member?.written ?? []).map(memberField)];
    return [{ record: id, writtenAtMs: new Map(fields.map((field) => [field, writtenAtMs])) }];
  });
}

function memberField(name: string): string {
  return `campaign.${name.toLowerCase()}`;
}

class Reader {
  constructor(
    private readonly org: Org,
    private readonly lane: Lane,
    private readonly shared: SharedRecords,
  ) {}

  async people(jobs: readonly Reading<PersonStep>[]): Promise<void> {
    const known = jobs.filter(({ step }) => step.known !== null);
    const found = await this.#find(known, ({ step }) => step.known!);
    for (const [objectType, same] of groupBy(known, ({ step }) => step.objectType)) {
      const lookups = await this.#lookups(objectType, same);
      for (const job of same.filter(({ isOpen }) => isOpen)) {
        const person = found.get(job);
        if (person === undefined) job.item.missing(job.step.record);
        else await this.#there(job, person, lookups.get(job)!);
      }
    }
    await this.#members(known.filter((job) => job.isOpen && found.has(job)));
    const there = known.filter((job) => job.isOpen && found.has(job));
    await this.#leaveOthers(there);
    await this.#copies(there.map((job) => ({ job, type: found.get(job)!.row.type, key: job.step.key })));
  }

  async linked(jobs: readonly Reading<LinkedStep>[]): Promise<void> {
    const known = jobs.filter(({ step }) => step.known !== null);
    for (const [object, same] of groupBy(known, ({ step }) => step.object)) {
      const facts = await factsOf(this.org, object);
      const lookups = await this.#lookups(object, same);
      const names = same.flatMap(({ step }) => [...step.writes, ...step.lookups.map(({ field: name }) => ({ name }))]);
      const columns = columnsOf(facts, [...names.map(({ name }) => name), ...AUTHOR]);
      const rows = await this.#rows(
        object,
        columns,
        same.map(({ step }) => step.known!.id),
      );
      for (const job of same) {
        const { item, step } = job;
        const row = rows.get(step.known!.id);
        if (this.#isHidden(job, step.writes, facts, object)) continue;
        if (row === undefined) {
          item.missing(step.record);
          item.correct(step.record, null);
          continue;
        }
        const record = recordOf(row);
        const held = { record, facts, lookups: lookups.get(job)!, isOtherObject: false, key: null, writtenAtMs: 0 };
        item.there(step.record, { ...held, ofOthers: new Set() });
        if (differingIn(step, item.factsOf(step.record)!).length > 0) changedBy(item, record);
      }
      await this.#copies(same.filter(({ isOpen }) => isOpen).map((job) => ({ job, type: object, key: job.step.key })));
    }
  }

  async forgotten(jobs: readonly Reading<ForgetStep>[]): Promise<void> {
    const found = await this.#find(jobs, ({ step }) => step.known);
    const ids = jobs.flatMap(({ step: { known } }) => (known.member === null ? [] : [known.member.id]));
    const members = ids.length === 0 ? new Map<string, Row>() : await this.#rows('CampaignMember', ['Id'], ids);
    for (const job of jobs.filter(({ isOpen }) => isOpen)) {
      const { item, step } = job;
      const person = found.get(job);
      const facts = person && (await factsOf(this.org, person.row.type));
      const isMember = step.known.member?.created === true && members.has(step.known.member.id);
      const isLeft =
        person !== undefined &&
        (step.how === 'delete' || person.isMerged || isMember || remains(step, person.row, facts!));
      if (isLeft) item.there(step.record, null, { isMerged: person.isMerged });
      else item.missing(step.record);
    }
  }

  async left(jobs: readonly Reading<LeaveStep>[]): Promise<void> {
    const ids = jobs.flatMap(({ step: { known } }) => (known.member === null ? [] : [known.member.id]));
    const rows = await this.#rows('CampaignMember', ['Id', 'Status'], ids);
    for (const { item, step } of jobs) {
      const status = textOf(rows.get(step.known.member?.id ?? '')?.Status);
      if (step.ours.includes(status) && status !== step.status) item.there(step.record, null);
      else item.missing(step.record);
    }
  }

  async unlinked(jobs: readonly Reading<UnlinkStep>[]): Promise<void> {
    for (const [object, same] of groupBy(jobs, ({ step }) => step.known.linked)) {
      const rows = await this.#rows(
        object,
        ['Id'],
        same.map(({ step }) => step.known.id),
      );
      for (const { item, step } of same) {
        if (rows.has(step.known.id)) item.there(step.record, null);
        else item.missing(step.record);
      }
    }
  }

  /** Reads people by id. Continues with the contacts of converted leads and with the records of merged ones. */
  async #find<J extends Reading<PersonStep> | Reading<ForgetStep>>(
    jobs: readonly J[],
    knownOf: (job: J) => { readonly type: PersonType; readonly id: string },
  ): Promise<Map<J, { row: PersonRow; isMerged: boolean }>> {
    const found = new Map<J, { row: PersonRow; isMerged: boolean }>();
    const names = jobs.flatMap(({ step }) => this.#namesOf(step));
    const search = { objectType: 'Contact' as const, key: null, email: null, match: [], onSeveral: 'park' as const };
    const asked = { step: { ...search, writes: [...names, ...AUTHOR].map((name) => ({ name, value: null, policy })) } };
    const read = async (type: PersonType, ids: readonly string[]): Promise<Map<string, PersonRow>> =>
      await findByIds(this.org, { type, jobs: [asked], ids: [...new Set(ids)] });
    for (const type of ['Lead', 'Contact'] as const) {
      const same = jobs.filter((job) => knownOf(job).type === type);
      if (same.length === 0) continue;
      const rows = await read(
        type,
        same.map((job) => knownOf(job).id),
      );
      const contactIds = [...rows.values()].flatMap(({ contactId }) => (contactId === null ? [] : [contactId]));
      const contacts = await read('Contact', contactIds);
      const lost = same.map((job) => knownOf(job).id).filter((id) => !rows.has(id));
      const merged = await mergedRecords(this.org, type, lost);
      const masters = await read(type, [...merged.values()]);
      for (const job of same) {
        const { id } = knownOf(job);
        const row = rows.get(id);
        const standing = row?.isConverted === true ? contacts.get(row.contactId ?? '') : row;
        const master = masters.get(merged.get(id) ?? '');
        if (standing !== undefined) found.set(job, { row: standing, isMerged: false });
        else if (master !== undefined) found.set(job, { row: master, isMerged: true });
      }
    }
    return found;
  }

  #namesOf(step: PersonStep | ForgetStep): string[] {
    if (step.kind === 'forget') return [...step.known.written, ...(step.keyField === null ? [] : [step.keyField])];
    const key = step.key === null ? [] : [step.key.field];
    return [...step.writes.map(({ name }) => name), ...step.lookups.map(({ field }) => field), ...key];
  }

  async #there(
    job: Reading<PersonStep>,
    { row, isMerged }: { readonly row: PersonRow; readonly isMerged: boolean },
    lookups: readonly ValueWrite[],
  ): Promise<void> {
    const { item, step } = job;
    const facts = await factsOf(this.org, row.type);
    const isOtherObject = row.type !== step.objectType;
    if (!isOtherObject && this.#isHidden(job, step.writes, facts, row.type)) return;
    const known = step.known!;
    const keyFacts = step.key === null ? undefined : facts.fields.get(step.key.field.toLowerCase());
    const isKeyed = known.keyed && keyFacts?.updateable === true && !isMerged;
    const key = isKeyed ? { name: keyFacts.name, value: step.key!.value } : null;
    const { writtenAtMs } = known;
    const held = { record: row, facts, lookups, isOtherObject, key, writtenAtMs, ofOthers: new Set<string>() };
    item.there(step.record, held, { isMerged });
    if (isMerged) changedBy(item, row);
  }

  /** Whether a field of the mapping is not visible. Ends the job then. */
  #isHidden({ item }: Reading<Step>, writes: readonly ValueWrite[], { fields }: ObjectFacts, object: string): boolean {
    const hidden = writes.find(({ name }) => !fields.has(name.toLowerCase()));
    if (hidden === undefined) return false;
    const detail = `${object} has no field ${hidden.name} that the user may see: it was renamed, or the permission is missing`;
    item.unreadable(`salesforce:INVALID_FIELD:${hidden.name}`, detail);
    return true;
  }

  /** Finds the records to which lookups refer, and returns the writes of their ids. */
  async #lookups<S extends PersonStep | LinkedStep>(
    object: string,
    jobs: readonly Reading<S>[],
  ): Promise<Map<Reading<S>, readonly ValueWrite[]>> {
    const resolving = jobs.map(({ item, step }) => {
      const operation = { changeId: '', steps: [step], object: item.entry.object };
      const task = new RecordTask<Step>(operation, { accepted: '', failureEnds: 'entry' });
      return new Job<Step>(task, { ...step, writes: [] }) as Job<PersonStep> | Job<LinkedStep>;
    });
    await resolveLookups(this.org, object, resolving);
    return new Map(jobs.map((job, index) => [job, resolving[index]!.step.writes]));
  }

  /** Reads the campaign members that this sink added or found. */
  async #members(jobs: readonly Reading<PersonStep>[]): Promise<void> {
    const expected = jobs.filter(({ step }) => step.campaign !== null && step.known!.member !== null);
    if (expected.length === 0) return;
    const facts = await factsOf(this.org, 'CampaignMember');
    const memberOf = ({ step }: Reading<PersonStep>): RemoteMember => step.known!.member!;
    const names = expected.flatMap(({ step }) => step.campaign!.memberWrites.map(({ name }) => name));
    const rows = await this.#rows(
      'CampaignMember',
      columnsOf(facts, [...names, ...AUTHOR]),
      expected.map((job) => memberOf(job).id),
    );
    for (const job of expected) {
      const { item, step } = job;
      const row = rows.get(memberOf(job).id);
      const held = item.factsOf(step.record)!;
      const member = row === undefined ? null : { record: recordOf(row), facts };
      item.there(step.record, { ...held, member }, { isMerged: isMerged(job) });
      if (member === null) item.correct(step.record, { ...item.madeOf(step.record), member: null });
    }
  }

  /** Leaves fields of shared records to the item that wrote them last, and notes who changed the others. */
  async #leaveOthers(jobs: readonly Reading<PersonStep>[]): Promise<void> {
    const heldOf = ({ item, step }: Reading<PersonStep>): Held => item.factsOf(step.record)!;
    const namesOf = (job: Reading<PersonStep>): string[] => [
      ...differingIn(job.step, heldOf(job)),
      ...differingMember(job.step, heldOf(job)),
    ];
    const differing = jobs.filter((job) => namesOf(job).length > 0);
    if (differing.length === 0) return;
    const changes = differing.flatMap((job) => [heldOf(job).record, heldOf(job).member?.record ?? []].flat());
    const latest = changes.map(({ lastModifiedAtMs }) => lastModifiedAtMs).filter(Number.isFinite);
    await this.shared.read(this.lane, Math.max(0, ...latest));
    const others = writesOfOthers(
      this.shared,
      jobs.map((job) => sharedWrite(job.step, heldOf(job))),
    );
    jobs.forEach((job, index) => {
      const held = { ...heldOf(job), ofOthers: others[index]! };
      job.item.there(job.step.record, held, { isMerged: isMerged(job) });
    });
    for (const job of differing) {
      const { writtenAtMs } = heldOf(job);
      if (differingIn(job.step, heldOf(job)).length > 0) changedBy(job.item, heldOf(job).record, writtenAtMs);
      const { member } = heldOf(job);
      if (member != null && differingMember(job.step, heldOf(job)).length > 0)
        changedBy(job.item, member.record, writtenAtMs);
    }
  }

  /** Finds other records with the external id of an item, where the field does not have to be unique. */
  async #copies(
    found: readonly {
      readonly job: Reading<PersonStep> | Reading<LinkedStep>;
      readonly type: string;
      readonly key: PersonStep['key'];
    }[],
  ): Promise<void> {
    for (const [type, same] of groupBy(found, (each) => each.type)) {
      const keyed = same.filter(({ key }) => key !== null);
      const field = (await factsOf(this.org, type)).fields.get(keyed[0]?.key!.field.toLowerCase() ?? '');
      if (field === undefined || field.unique) continue;
      const rows = await this.#marked(
        type,
        field,
        keyed.map(({ key }) => key!.value),
      );
      const suspects = keyed.flatMap(({ job, key }) =>
        (rows.get(key!.value.toLowerCase()) ?? [])
          .filter((id) => id !== this.#idOf(job))
          .map((id) => ({ item: job.item, id })),
      );
      if (suspects.length === 0) continue;
      await this.shared.read(this.lane, Number.POSITIVE_INFINITY);
      for (const { item, id } of suspects) if (!this.shared.isKnown(id)) item.copy(id);
    }
  }

  #idOf({ item, step }: Reading<PersonStep> | Reading<LinkedStep>): string {
    const held = item.factsOf(step.record);
    return textOf(held?.record.values.get('id')) || step.known!.id;
  }

  async #marked(type: string, field: FieldFacts, keys: readonly string[]): Promise<Map<string, string[]>> {
    return await markedRecords(this.org, type, field, keys);
  }

  async #rows(object: string, columns: readonly string[], ids: readonly string[]): Promise<Map<string, Row>> {
    const select = [...new Set(['Id', ...columns])].join(', ');
    const soql = (list: string): string => `SELECT ${select} FROM ${object} WHERE Id IN (${list})`;
    const rows = await queryAll(
      this.org,
      ids.map((id) => soqlText(id)),
      soql,
    );
    return new Map(rows.map((row) => [String(row.Id), row]));
  }
}

const policy = 'if-empty' as const;

/**
 * Removes what is left of copies: deletes copies of records that belong to a person, and clears the external id of copies
 * of people, because users may have added data to them. Verifies the external id of each copy first.
 */
export async function removeCopies(org: Org, extras: readonly ExtraHeld<SalesforceOperation>[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { operation, copies } of extras) {
    try {
      outcomes.push(await removeCopiesOf(org, operation?.steps ?? [], copies));
    } catch (error) {
      if (!(error instanceof CallFailure || error instanceof CallsEnded)) throw error;
      outcomes.push(error instanceof CallFailure ? error.result : { kind: 'unsent' });
    }
  }
  return outcomes;
}

async function removeCopiesOf(org: Org, steps: readonly Step[], copies: readonly string[]): Promise<Outcome> {
  let count = 0;
  for (const step of steps) {
    if ((step.kind !== 'person' && step.kind !== 'linked') || step.key === null || step.known === null) continue;
    const type = step.kind === 'linked' ? step.object : (step.known as { type: PersonType }).type;
    const field = (await factsOf(org, type)).fields.get(step.key.field.toLowerCase());
    if (field === undefined) continue;
    const marked = (await markedRecords(org, type, field, [step.key.value])).get(step.key.value.toLowerCase()) ?? [];
    const ids = marked.filter((id) => copies.includes(id) && id !== step.known!.id);
    const written: readonly Written[] =
      step.kind === 'linked'
        ? await deleteRecords(org, ids)
        : await writeRecords(
            org,
            { how: 'update', type },
            ids.map((id) => ({ id, [field.name]: null })),
          );
    for (const each of written) {
      const reply = replyOf(each, type);
      if (reply.kind === 'refused' || reply.kind === 'failed') return reply.result;
    }
    count += ids.length;
  }
  return { kind: 'delivered', detail: `${count} copies removed or parted from the item` };
}

async function markedRecords(
  org: Org,
  type: string,
  field: FieldFacts,
  keys: readonly string[],
): Promise<Map<string, string[]>> {
  const isNumber = field.type === 'double' || field.type === 'int';
  const literals = keys.flatMap((key) => (isNumber ? (soqlNumber(key) ?? []) : soqlText(key)));
  const soql = (list: string): string => `SELECT Id, ${field.name} FROM ${type} WHERE ${field.name} IN (${list})`;
  const rows = literals.length === 0 ? [] : await queryAll(org, literals, soql);
  const byKey = groupBy(rows, (row) => textOf(row[field.name]).toLowerCase());
  return new Map([...byKey].map(([key, same]) => [key, same.map(({ Id }) => String(Id))]));
}

function columnsOf({ fields }: ObjectFacts, names: readonly string[]): string[] {
  return names.flatMap((name) => fields.get(name.toLowerCase())?.name ?? []);
}

function recordOf(row: Row): PresentRecord {
  return {
    values: new Map(Object.entries(row).map(([field, value]) => [field.toLowerCase(), value])),
    lastModifiedAtMs: Date.parse(String(row.LastModifiedDate)) || Number.POSITIVE_INFINITY,
  };
}

function isMerged({ item, step }: Reading<PersonStep>): boolean {
  const { record, isOtherObject } = item.factsOf(step.record)!;
  return !isOtherObject && step.known!.type === step.objectType && textOf(record.values.get('id')) !== step.known!.id;
}

/** Notes who changed a record, if it was changed after the last write of this sink. */
function changedBy(item: Item, { values, lastModifiedAtMs }: PresentRecord, writtenAtMs = 0): void {
  if (isOwnChange(lastModifiedAtMs, writtenAtMs)) return;
  const user = textOf(values.get('lastmodifiedbyid'));
  item.changed(/^\w{15,18}$/.test(user) ? user : undefined, lastModifiedAtMs);
}

/** Whether a record has values that forgetting the person would clear. */
function remains(step: ForgetStep, { values }: PersonRow, facts: ObjectFacts): boolean {
  return Object.entries(clearedFields(step, facts)).some(([name, cleared]) => {
    const present = values.get(name.toLowerCase()) ?? null;
    return present !== cleared && !(cleared === null && present === '');
  });
}

function sharedWrite(step: PersonStep, { record, facts, lookups, isOtherObject, member }: Held): SharedWrite {
  const known = step.known!;
  const written = new Set([
    ...known.written.map((field) => field.toLowerCase()),
    ...(known.member?.written ?? []).map(memberField),
  ]);
  const isAs = (values: PresentRecord['values'], { fields }: ObjectFacts, { name, value }: ValueWrite): boolean => {
    const present = values.get(name.toLowerCase()) ?? null;
    return present === null || value === null
      ? present === value
      : isSameField(fields.get(name.toLowerCase()), present, value);
  };
  const own = conformed([...step.writes, ...lookups], facts, isOtherObject);
  const ofMember = member == null ? [] : conformed(step.campaign?.memberWrites ?? [], member.facts, false);
  return {
    record: textOf(record.values.get('id')),
    writtenAtMs: (field) => (written.has(field) ? known.writtenAtMs : undefined),
    fields: [
      ...own.map((write) => ({ field: write.name.toLowerCase(), isAsWanted: isAs(record.values, facts, write) })),
      ...ofMember.map((write) => ({
        field: memberField(write.name),
        isAsWanted: isAs(member!.record.values, member!.facts, write),
      })),
    ],
  };
}
