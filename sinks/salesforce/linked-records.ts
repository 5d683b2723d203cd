import { groupBy } from '../../base/group-by.js';
import type { CallBudget } from '../rest/rest-client.js';
import { conformValue, type ObjectFacts, type Org } from './object-fields.js';
import { findPeople, type Found, textOf } from './find-people.js';
import {
  isOpen,
  type Job,
  jobOf,
  type PersonJob,
  type FieldValue,
  type LinkedStep,
  type PersonStep,
  type UnlinkStep,
  type FieldWrite,
  type Lookup,
} from './operation.js';
import type { OpenCreations } from './open-creations.js';
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
  budget: CallBudget,
): Promise<void> {
  const { object } = jobs[0]!.step;
  await resolveLookups(org, object, jobs, budget);
  const facts = await org.objects.of(object, budget);
  const people = await peopleOf(
    org,
    jobs.filter((job) => isOpen(job) && job.remote === null),
    budget,
  );
  const drafts: { readonly job: LinkedJob; readonly fields: Record<string, FieldValue> }[] = [];
  for (const job of jobs.filter(isOpen)) {
    const link = job.remote === null ? linkOf(job, people.get(job)!, isWaiting) : {};
    const fields = link === undefined ? undefined : fieldsOf(job, link, facts);
    if (fields !== undefined) drafts.push({ job, fields });
  }
  const known = drafts.filter(({ job }) => job.remote !== null);
  const fresh = drafts.filter(({ job }) => job.remote === null);
  const changed = known.map(({ job, fields }) => ({ id: job.remote!.id, ...fields }));
  // If a user deleted a record, the next attempt finds the person and creates the record again.
  await write(org, { how: 'update', type: object }, { drafts: known, records: changed }, budget);
  const keyFacts = facts.fields.get(jobs[0]!.step.key.field.toLowerCase());
  const keyField = keyFacts?.name ?? jobs[0]!.step.key.field;
  const created = fresh.map(({ job, fields }) => ({ ...fields, [keyField]: job.step.key.value }));
  if (keyFacts?.externalId === true)
    await write(org, { how: 'upsert', type: object, keyField }, { drafts: fresh, records: created }, budget);
  else await writeUnflagged(org, { type: object, keyField, creations }, { drafts: fresh, records: created }, budget);
}

/** The jobs, and their records in the same order. */
interface Drafts {
  readonly drafts: readonly { readonly job: LinkedJob }[];
  readonly records: readonly Record<string, FieldValue>[];
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
  { drafts, records }: Drafts,
  budget: CallBudget,
): Promise<void> {
  const literals = drafts.map(({ job }) => soqlText(job.step.key.value));
  const soql = (list: string): string => `SELECT Id, ${keyField} FROM ${type} WHERE ${keyField} IN (${list})`;
  const rows = await queryAll(org.client, literals, soql, budget);
  const ids = new Map(rows.map((row) => [textOf(row[keyField]).toLowerCase(), String(row.Id)]));
  const idOf = (at: number): string | undefined => ids.get(drafts[at]!.job.step.key.value.toLowerCase());
  const keyOf = (at: number): string => drafts[at]!.job.step.key.value;
  const present = [...drafts.keys()].filter((at) => idOf(at) !== undefined);
  creations.end(type, present.map(keyOf));
  const changes = {
    drafts: present.map((at) => drafts[at]!),
    records: present.map((at) => ({ id: idOf(at)!, ...records[at]! })),
  };
  await write(org, { how: 'update', type }, changes, budget);
  const missing = [...drafts.keys()].filter((at) => idOf(at) === undefined);
  for (const at of missing) {
    const afterMs = creations.openForMs(type, keyOf(at));
    // No detail: a detail would mean that Salesforce accepts other records, and nothing shows that.
    if (afterMs !== undefined) drafts[at]!.job.result = { kind: 'unsent', afterMs };
  }
  const free = missing.filter((at) => isOpen(drafts[at]!.job));
  await creations.begin(type, free.map(keyOf));
  const created = { drafts: free.map((at) => drafts[at]!), records: free.map((at) => records[at]!) };
  const written = await write(org, { how: 'create', type }, created, budget);
  const isOver = (each: Written): boolean => each.kind !== 'failed' || each.mayBeOpen !== true;
  creations.end(type, free.filter((_, index) => isOver(written[index]!)).map(keyOf));
}

async function peopleOf(org: Org, jobs: readonly LinkedJob[], budget: CallBudget): Promise<Map<LinkedJob, Found>> {
  const searches = new Map<LinkedJob, PersonJob>(jobs.map((job) => [job, jobOf(searchOf(job.step))]));
  const found = await findPeople(org, [...searches.values()], budget);
  return new Map([...searches].map(([job, search]) => [job, found.get(search)!]));
}

/** Returns a step that only searches the person and writes nothing. */
function searchOf({ record, person }: LinkedStep): PersonStep {
  return {
    kind: 'person',
    record,
    objectType: 'Contact',
    known: null,
    ...person,
    create: false,
    writes: [],
    isOneWord: false,
    lookups: [],
    happenedAtMs: 0,
    campaign: null,
  };
}

/**
 * Returns the field that links the record to the person. Returns undefined and settles the job if no person was found.
 */
function linkOf(
  job: LinkedJob,
  found: Found,
  isWaiting: (email: string | null) => boolean,
): Record<string, FieldValue> | undefined {
  const { step } = job;
  if (found.kind === 'ambiguous') {
    const detail = `${found.ids.length} records match the person by ${found.by}: merge them, or choose one with "onSeveral", then redrive`;
    job.result = { kind: 'rejected', cause: `salesforce:ambiguous-match:${found.by}`, detail, about: 'record' };
  } else if (found.kind === 'none') {
    job.result = isWaiting(step.person.email)
      ? { kind: 'retry', detail: 'waits for the record of the person, which could not be written yet' }
      : { kind: 'delivered', detail: 'the person was not found' };
  } else {
    const { type, id } = found.row;
    const field = step.links[type];
    if (field !== undefined) return { [field]: id };
    job.result = { kind: 'delivered', detail: `the person is a ${type}, and "person" names no field for that` };
  }
  return undefined;
}

/**
 * Returns the values in the form that their fields require. Returns undefined and settles the job if a field cannot
 * accept its value.
 */
function fieldsOf(
  job: LinkedJob,
  link: Record<string, FieldValue>,
  { fields }: ObjectFacts,
): Record<string, FieldValue> | undefined {
  const { object, writes } = job.step;
  const record: Record<string, FieldValue> = {};
  const isOfLead = Object.values(link).some((id) => String(id).startsWith('00Q'));
  for (const { field, value } of [...writes, ...Object.entries(link).map(([field, value]) => ({ field, value }))]) {
    const known = fields.get(field.toLowerCase());
    const conformed = known === undefined ? undefined : conformValue(value, known);
    if (known === undefined || conformed === undefined) {
      const code = known === undefined ? 'INVALID_FIELD' : 'wrong-type';
      const detail = `${object} has no field ${field} that accepts the mapping's value: run "pigeonpost check" for details`;
      job.result = { kind: 'rejected', cause: `salesforce:${code}:${field}`, detail };
      return undefined;
    }
    // Salesforce does not allow a task of a lead to refer to another record.
    if (object === 'Task' && known.name === 'WhatId' && isOfLead) continue;
    record[known.name] = conformed;
  }
  return record;
}

async function write(org: Org, how: Write, { drafts, records }: Drafts, budget: CallBudget): Promise<Written[]> {
  const written = await writeRecords(org.client, how, records, budget);
  drafts.forEach(({ job }, index) => {
    const { object } = job.step;
    settle(job, written[index]!, object, {
      written({ id }) {
        job.remote = { linked: object, id };
        job.done.push(`${object} ${id} written`);
      },
      lost() {
        job.remote = null;
        job.result = { kind: 'retry', detail: `the ${object} was deleted in Salesforce and will be created again` };
      },
    });
  });
  return written;
}

/**
 * Deletes the records of items that were deleted or whose person's identity is no longer visible.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function deleteLinked(org: Org, jobs: readonly Job<UnlinkStep>[], budget: CallBudget): Promise<void> {
  const ids = [...new Set(jobs.map(({ step }) => step.known.id))];
  const written = await deleteRecords(org.client, ids, budget);
  for (const job of jobs) {
    const { linked, id } = job.step.known;
    const deleted = (): void => {
      job.remote = null;
      job.done.push(`${linked} ${id} deleted`);
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
  budget: CallBudget,
): Promise<void> {
  const asked = jobs.flatMap(({ step }) => step.lookups);
  if (asked.length === 0) return;
  const facts = await org.objects.of(object, budget);
  const found = new Map<string, Ids>();
  for (const lookup of asked) {
    const name = nameOf(lookup);
    if (found.has(name)) continue;
    const values = asked.flatMap((each) => (nameOf(each) === name && each.key !== null ? [each.key.value] : []));
    const target = targetOf(facts, lookup.field, lookup.object);
    found.set(name, await idsBy(org, { target, keyField: lookup.keyField, values }, budget));
  }
  for (const job of jobs.filter(isOpen)) {
    const writes: FieldWrite[] = [];
    for (const lookup of job.step.lookups) {
      if (targetOf(facts, lookup.field, lookup.object) === undefined) {
        const detail = `${object}.${lookup.field} cannot hold the id of the record that the mapping names: run "pigeonpost check" for details`;
        job.result = { kind: 'rejected', cause: `salesforce:lookup:${lookup.field}`, detail };
      }
      const ids = found.get(nameOf(lookup))!.get(lookup.key?.value.toLowerCase() ?? '') ?? [];
      if (ids.length > 1) {
        const detail = `several records match the lookup of ${object}.${lookup.field} by ${lookup.keyField}: make that field unique`;
        job.result = {
          kind: 'rejected',
          cause: `salesforce:ambiguous-lookup:${lookup.field}`,
          detail,
          about: 'record',
        };
      }
      const id = ids[0] ?? lookup.otherwise;
      if (id !== null) writes.push({ field: lookup.field, value: id, policy: lookup.policy });
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
  budget: CallBudget,
): Promise<Ids> {
  if (values.length === 0 || target === undefined) return new Map();
  const known = (await org.objects.of(target, budget)).fields.get(keyField.toLowerCase());
  if (known === undefined) return new Map();
  const literals = values.map((value) => soqlText(value));
  const soql = (list: string): string => `SELECT Id, ${known.name} FROM ${target} WHERE ${known.name} IN (${list})`;
  const rows = await queryAll(org.client, literals, soql, budget);
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
