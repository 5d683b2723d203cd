import { z } from 'zod';
import type { Lane } from '../sink.js';
import { groupBy } from '../../base/grouping.js';
import { conform, factsOf, type ObjectFacts, type Org } from './object-fields.js';
import { findPeople, type Found, textOf } from './find-people.js';
import { digest, type Job, type LinkedStep, type PersonStep, type UnlinkStep, type Lookup } from './operation.js';
import type { Value, ValueWrite } from '../records/decide-values.js';
import { queryAll, soqlText } from './query.js';
import { deleteRecords, settle, type Write, type Written, writeRecords } from './write-records.js';

type LinkedJob = Job<LinkedStep>;

interface LinkedCircumstances {
  /** Whether the person with this e-mail may be created soon. */
  readonly isWaiting: (email: string | null) => boolean;
  readonly creations: OpenCreations;
}

/**
 * Writes records that belong to a person, such as a task for each question. A new record is created by its external id
 * and linked to the person. Does not create a person who is not found.
 * @param jobs the jobs of one entry of `records`
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function writeLinked(
  org: Org,
  jobs: readonly LinkedJob[],
  { isWaiting, creations }: LinkedCircumstances,
): Promise<void> {
  const { object } = jobs[0]!.step;
  await resolveLookups(org, object, jobs);
  const facts = await factsOf(org, object);
  const people = await peopleOf(
    org,
    jobs.filter((job) => job.isOpen && job.remote === null),
  );
  const keyFacts = facts.fields.get(jobs[0]!.step.key.field.toLowerCase());
  const keyField = keyFacts?.name ?? jobs[0]!.step.key.field;
  const known: Draft[] = [];
  const fresh: Draft[] = [];
  for (const job of jobs.filter((job) => job.isOpen)) {
    const link = job.remote === null ? linkOf(job, people.get(job)!, isWaiting) : {};
    const fields = link === undefined ? undefined : fieldsOf(job, link, facts);
    if (fields === undefined) continue;
    if (job.remote !== null) known.push({ job, record: { id: job.remote.id, ...fields } });
    else fresh.push({ job, record: { ...fields, [keyField]: job.step.key.value } });
  }
  // If a user deleted a record, the next attempt finds the person and creates the record again.
  await write(org, { how: 'update', type: object }, known);
  if (keyFacts?.externalId === true) await write(org, { how: 'upsert', type: object, keyField }, fresh);
  else await writeUnflagged(org, { type: object, keyField, creations }, fresh);
}

/** A job with the record to write. */
interface Draft {
  readonly job: LinkedJob;
  readonly record: Record<string, Value>;
}

/**
 * Writes records whose key field has no External ID flag (fields of activities have none). They are searched by the
 * field's value first, because an upsert is not possible. A record is not created while an earlier creation of it may
 * still be carried out.
 */
async function writeUnflagged(
  org: Org,
  {
    type,
    keyField,
    creations,
  }: { readonly type: string; readonly keyField: string; readonly creations: OpenCreations },
  drafts: readonly Draft[],
): Promise<void> {
  const keyOf = ({ job }: Draft): string => job.step.key.value;
  const literals = drafts.map((draft) => soqlText(keyOf(draft)));
  const soql = (list: string): string => `SELECT Id, ${keyField} FROM ${type} WHERE ${keyField} IN (${list})`;
  const rows = await queryAll(org, literals, soql);
  const ids = new Map(rows.map((row) => [textOf(row[keyField]).toLowerCase(), String(row.Id)]));
  const idOf = (draft: Draft): string | undefined => ids.get(keyOf(draft).toLowerCase());
  const present = drafts.filter((draft) => idOf(draft) !== undefined);
  creations.end(type, present.map(keyOf));
  const changed = present.map((draft) => ({ ...draft, record: { id: idOf(draft)!, ...draft.record } }));
  await write(org, { how: 'update', type }, changed);
  const missing = drafts.filter((draft) => idOf(draft) === undefined);
  for (const draft of missing) {
    const afterMs = creations.openForMs(type, keyOf(draft));
    // No detail: a detail would mean that Salesforce accepts other records, and nothing shows that.
    if (afterMs !== undefined) draft.job.end({ kind: 'unsent', afterMs });
  }
  const free = missing.filter(({ job }) => job.isOpen);
  await creations.begin(type, free.map(keyOf));
  const written = await write(org, { how: 'create', type }, free);
  const isOver = (each: Written): boolean => each.kind !== 'failed' || each.mayBeOpen !== true;
  creations.end(type, free.filter((_, index) => isOver(written[index]!)).map(keyOf));
}

async function peopleOf(org: Org, jobs: readonly LinkedJob[]): Promise<Map<LinkedJob, Found>> {
  const searches = jobs.map(({ step }) => ({ step: { objectType: 'Contact' as const, writes: [], ...step.person } }));
  const found = await findPeople(org, searches);
  return new Map(jobs.map((job, index) => [job, found.get(searches[index]!)!]));
}

/**
 * Returns the field that links the record to the person. Returns undefined and settles the job if no person was found.
 */
function linkOf(
  job: LinkedJob,
  found: Found,
  isWaiting: (email: string | null) => boolean,
): Record<string, Value> | undefined {
  const { step } = job;
  if (found.kind === 'ambiguous') {
    const detail = `${found.ids.length} records match the person by ${found.by}: merge them, or choose one with "onSeveral", then redrive`;
    job.end({ kind: 'rejected', cause: `salesforce:ambiguous-match:${found.by}`, detail, about: 'record' });
  } else if (found.kind === 'none') {
    job.end(
      isWaiting(step.person.email)
        ? { kind: 'retry', detail: 'waits for the record of the person, which could not be written yet' }
        : { kind: 'delivered', detail: 'the person was not found' },
    );
  } else {
    const { type, id } = found.row;
    const field = step.links[type];
    if (field !== undefined) return { [field]: id };
    job.end({ kind: 'delivered', detail: `the person is a ${type}, and "person" names no field for that` });
  }
  return undefined;
}

/**
 * Returns the values in the form that their fields require. Returns undefined and settles the job if a field cannot
 * accept its value.
 */
function fieldsOf(job: LinkedJob, link: Record<string, Value>, facts: ObjectFacts): Record<string, Value> | undefined {
  const { object, writes } = job.step;
  const record: Record<string, Value> = {};
  const isOfLead = Object.values(link).some((id) => String(id).startsWith('00Q'));
  for (const { name, value } of [...writes, ...Object.entries(link).map(([name, value]) => ({ name, value }))]) {
    const conformed = conform(facts, object, { name, value }, name);
    if ('kind' in conformed) {
      job.end(conformed);
      return undefined;
    }
    // Salesforce does not allow a task of a lead to refer to another record.
    if (object === 'Task' && conformed.name === 'WhatId' && isOfLead) continue;
    record[conformed.name] = conformed.value;
  }
  return record;
}

async function write(org: Org, how: Write, drafts: readonly Draft[]): Promise<Written[]> {
  const records = drafts.map(({ record }) => record);
  const written = await writeRecords(org, how, records);
  drafts.forEach(({ job }, index) => {
    const { object } = job.step;
    const each = written[index]!;
    if (how.how !== 'update' && each.kind === 'failed' && each.mayBeOpen === true) job.mayHaveCreated();
    settle(job, each, object, {
      written({ id }) {
        job.remote = { linked: object, id };
        job.done(`${object} ${id} written`);
      },
      lost() {
        job.remote = null;
        job.end({ kind: 'retry', detail: `the ${object} was deleted in Salesforce and will be created again` });
      },
    });
  });
  return written;
}

/**
 * Deletes the records of items that were deleted or whose person's identity is no longer visible.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function deleteLinked(org: Org, jobs: readonly Job<UnlinkStep>[]): Promise<void> {
  const ids = [...new Set(jobs.map(({ step }) => step.known.id))];
  const written = await deleteRecords(org, ids);
  for (const job of jobs) {
    const { linked, id } = job.step.known;
    const deleted = (): void => {
      job.remote = null;
      job.done(`${linked} ${id} deleted`);
    };
    settle(job, written[ids.indexOf(id)]!, linked, { written: deleted, lost: deleted });
  }
}

/** The ids of the records that a value found, by the value in lower case. */
type Ids = ReadonlyMap<string, readonly string[]>;

/**
 * Finds the records to which lookups refer by an external id, and converts each lookup into the write of an id. It uses
 * a query. Salesforce would also accept a nested external id in the record, but it refuses the record if no such id
 * exists, and a person must not be lost because an account is missing.
 * @param object the object whose fields the lookups write
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function resolveLookups(
  org: Org,
  object: string,
  jobs: readonly (Job<PersonStep> | Job<LinkedStep>)[],
): Promise<void> {
  const asked = jobs.flatMap(({ step }) => step.lookups);
  if (asked.length === 0) return;
  const facts = await factsOf(org, object);
  const found = new Map<string, Ids>();
  for (const lookup of asked) {
    const name = nameOf(lookup);
    if (found.has(name)) continue;
    const values = asked.flatMap((each) => (nameOf(each) === name && each.key !== null ? [each.key.value] : []));
    const target = targetOf(facts, lookup.field, lookup.object);
    found.set(name, await idsBy(org, { target, keyField: lookup.keyField, values }));
  }
  for (const job of jobs.filter((job) => job.isOpen)) {
    const writes: ValueWrite[] = [];
    for (const lookup of job.step.lookups) {
      if (targetOf(facts, lookup.field, lookup.object) === undefined) {
        const detail = `${object}.${lookup.field} cannot hold the id of the record that the mapping names: run "pigeonpost check" for details`;
        job.end({ kind: 'rejected', cause: `salesforce:lookup:${lookup.field}`, detail });
      }
      const ids = found.get(nameOf(lookup))!.get(lookup.key?.value.toLowerCase() ?? '') ?? [];
      if (ids.length > 1) {
        const detail = `several records match the lookup of ${object}.${lookup.field} by ${lookup.keyField}: make that field unique`;
        job.end({
          kind: 'rejected',
          cause: `salesforce:ambiguous-lookup:${lookup.field}`,
          detail,
          about: 'record',
        });
      }
      const id = ids[0] ?? lookup.otherwise;
      if (id !== null) writes.push({ name: lookup.field, value: id, policy: lookup.policy });
    }
    if (writes.length > 0) Object.assign(job, { step: { ...job.step, writes: [...job.step.writes, ...writes] } });
  }
}

function nameOf({ field, keyField }: Lookup): string {
  return `${field} ${keyField}`;
}

async function idsBy(
  org: Org,
  { target, keyField, values }: { target: string | undefined; keyField: string; values: readonly string[] },
): Promise<Ids> {
  if (values.length === 0 || target === undefined) return new Map();
  const known = (await factsOf(org, target)).fields.get(keyField.toLowerCase());
  if (known === undefined) return new Map();
  const literals = values.map((value) => soqlText(value));
  const soql = (list: string): string => `SELECT Id, ${known.name} FROM ${target} WHERE ${known.name} IN (${list})`;
  const rows = await queryAll(org, literals, soql);
  const byValue = groupBy(rows, (row) => textOf(row[known.name]).toLowerCase());
  return new Map([...byValue].map(([value, found]) => [value, found.map(({ Id }) => String(Id))]));
}

/**
 * Returns the object to whose records a lookup's field refers; undefined if the field holds no ids, or if it accepts
 * several objects and none was chosen.
 * @param chosen the configured object, for a field that accepts ids of several objects
 */
export function targetOf(
  { fields }: ObjectFacts,
  field: string,
  chosen: string | null | undefined,
): string | undefined {
  const targets = fields.get(field.toLowerCase())?.referenceTo ?? [];
  return targets.length === 1 ? targets[0] : targets.find((target) => target === chosen);
}

/**
 * Time after which a creation without an answer has happened or never will. Salesforce ends a request after 10 minutes.
 * One `send` and its last request add less than 2 minutes. Source: Salesforce, App Limits Cheatsheet, "API Timeout
 * Limits".
 */
const OPEN_FOR_MS = 12 * 60 * 1000;

const MEMORY_KEY = 'open creations';
/** The time of each open creation, Unix time in ms, by the digest of its key. */
const openSchema = z.record(z.string(), z.number());

/**
 * Remembers creations that a repeat would duplicate, because no external id identifies their records. Salesforce may
 * still carry out a creation whose answer was lost, and until then, no query finds the record. The lane's memory
 * therefore holds each creation from before its call until its answer, also if the process dies in between.
 */
export class OpenCreations {
  #open: Readonly<Record<string, number>>;
  /** Whether the lane's memory holds creations, open or not. */
  #isStored: boolean;

  constructor(
    private readonly lane: Pick<Lane, 'memory' | 'remember'>,
    private readonly now: () => number,
  ) {
    const found = openSchema.safeParse(lane.memory[MEMORY_KEY]);
    const stored = Object.entries(found.success ? found.data : {});
    this.#isStored = stored.length > 0;
    const nowMs = now();
    // A time in the future is from a clock that was set back, and would hold the creation for longer than `OPEN_FOR_MS`.
    const notLater = stored.map(([name, atMs]) => [name, Math.min(atMs, nowMs)] as const);
    this.#open = Object.fromEntries(notLater.filter(([, atMs]) => atMs + OPEN_FOR_MS > nowMs));
  }

  /** Returns for how many milliseconds an earlier creation may still happen; undefined if there is none. */
  openForMs(type: string, key: string): number | undefined {
    const forMs = (this.#open[creationName(type, key)] ?? Number.NEGATIVE_INFINITY) + OPEN_FOR_MS - this.now();
    return forMs > 0 ? forMs : undefined;
  }

  /** Stores creations before their call. @throws if another process took over the lane */
  async begin(type: string, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const nowMs = this.now();
    this.#open = { ...this.#open, ...Object.fromEntries(keys.map((key) => [creationName(type, key), nowMs])) };
    this.#isStored = true;
    await this.lane.remember({ [MEMORY_KEY]: this.#open });
  }

  /** Ends creations that Salesforce answered, or whose record exists. */
  end(type: string, keys: readonly string[]): void {
    const ended = new Set(keys.map((key) => creationName(type, key)));
    this.#open = Object.fromEntries(Object.entries(this.#open).filter(([name]) => !ended.has(name)));
  }

  /** The change to the lane's memory, which the engine commits with the outcomes. */
  get learnt(): Readonly<Record<string, unknown>> {
    return this.#isStored ? { [MEMORY_KEY]: this.#open } : {};
  }
}

function creationName(type: string, key: string): string {
  return digest([type, key.toLowerCase()]);
}
