import { classifyRecordErrors } from './classify-record-errors.js';
import type { CallBudget } from '../rest/call-budget.js';
import { conformValue } from './conform-value.js';
import { findPeople, type Found } from './find-people.js';
import { isOpen, type Job, jobOf, type PersonJob } from './job.js';
import { resolveLookups } from './lookups.js';
import type { ObjectFacts } from './object-fields.js';
import type { FieldValue, LinkedStep, PersonStep, UnlinkStep } from './operation.js';
import type { Org } from './org.js';
import { textOf } from './person-row.js';
import { query } from './query.js';
import { queriesFor, soqlText } from './soql.js';
import { deleteRecords, type Write, type Written, writeRecords } from './write-records.js';

type LinkedJob = Job<LinkedStep>;

/**
 * Writes records that belong to a person, such as a task for each question. A new one is created by its external id,
 * and linked to the person; nobody is created for it.
 * @param jobs of one entry of `records`
 * @param isWaiting whether the person with this e-mail may be about to be created
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function writeLinked(
  org: Org,
  jobs: readonly LinkedJob[],
  isWaiting: (email: string | null) => boolean,
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
  // One that somebody has deleted is made again with the next attempt, for its person has to be found first.
  await write(org, { how: 'update', type: object }, known, changed, budget);
  const keyFacts = facts.fields.get(jobs[0]!.step.key.field.toLowerCase());
  const keyField = keyFacts?.name ?? jobs[0]!.step.key.field;
  const created = fresh.map(({ job, fields }) => ({ ...fields, [keyField]: job.step.key.value }));
  if (keyFacts?.externalId === true)
    await write(org, { how: 'upsert', type: object, keyField }, fresh, created, budget);
  else await writeUnflagged(org, { type: object, keyField }, fresh, created, budget);
}

/** A field of activities may have no flag External ID: their records are looked for by its value, and then written. */
async function writeUnflagged(
  org: Org,
  { type, keyField }: { readonly type: string; readonly keyField: string },
  drafts: readonly { readonly job: LinkedJob }[],
  records: readonly Record<string, FieldValue>[],
  budget: CallBudget,
): Promise<void> {
  const ids = new Map<string, string>();
  const literals = drafts.map(({ job }) => soqlText(job.step.key.value));
  const soql = (list: string): string => `SELECT Id, ${keyField} FROM ${type} WHERE ${keyField} IN (${list})`;
  for (const each of queriesFor(literals, soql)) {
    for (const row of await query(org.client, each, budget))
      ids.set(textOf(row[keyField]).toLowerCase(), String(row.Id));
  }
  const idOf = (at: number): string | undefined => ids.get(drafts[at]!.job.step.key.value.toLowerCase());
  for (const how of ['update', 'create'] as const) {
    const places = [...drafts.keys()].filter((at) => (idOf(at) === undefined) === (how === 'create'));
    const rows = places.map((at) => ({ ...(how === 'update' && { id: idOf(at)! }), ...records[at]! }));
    await write(
      org,
      { how, type },
      places.map((at) => drafts[at]!),
      rows,
      budget,
    );
  }
}

async function peopleOf(org: Org, jobs: readonly LinkedJob[], budget: CallBudget): Promise<Map<LinkedJob, Found>> {
  const searches = new Map<LinkedJob, PersonJob>(jobs.map((job) => [job, jobOf(searchOf(job.step))]));
  const found = await findPeople(org, [...searches.values()], budget);
  return new Map([...searches].map(([job, search]) => [job, found.get(search)!]));
}

/** The search for a person, as a step that writes nothing. */
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

/** The field with the person's id; undefined: nobody was found, and the job is settled. */
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

/** In the form that the fields take; undefined: one cannot take what the mapping gives, and the job is settled. */
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
      const detail = `${object} has no field ${field} that takes what the mapping gives: "pigeonpost check" says more`;
      job.result = { kind: 'rejected', cause: `salesforce:${code}:${field}`, detail };
      return undefined;
    }
    // Salesforce relates a task of a lead to nothing else.
    if (object === 'Task' && known.name === 'WhatId' && isOfLead) continue;
    record[known.name] = conformed;
  }
  return record;
}

async function write(
  org: Org,
  how: Write,
  drafts: readonly { readonly job: LinkedJob }[],
  records: readonly Record<string, FieldValue>[],
  budget: CallBudget,
): Promise<void> {
  const written = await writeRecords(org.client, how, records, budget);
  drafts.forEach(({ job }, index) => settle(job, written[index]!));
}

function settle(job: LinkedJob, written: Written): void {
  const { object } = job.step;
  switch (written.kind) {
    case 'written':
      job.remote = { linked: object, id: written.id };
      job.done.push(`${object} ${written.id} written`);
      return;
    case 'failed':
      job.result = written.result;
      return;
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, object, written.requestId);
      if ('result' in failure) job.result = failure.result;
      else {
        job.remote = null;
        job.result = { kind: 'retry', detail: `the ${object} was deleted in Salesforce and is made again` };
      }
      return;
    }
    case 'not-begun':
      job.result = { kind: 'unsent' };
  }
}

/** Deletes records of items that are gone, or whose person must not be shown with them any more. @throws {CallFailure} @throws {CallsEnded} */
export async function deleteLinked(org: Org, jobs: readonly Job<UnlinkStep>[], budget: CallBudget): Promise<void> {
  const ids = [...new Set(jobs.map(({ step }) => step.known.id))];
  const written = await deleteRecords(org.client, ids, budget);
  for (const job of jobs) {
    const { linked, id } = job.step.known;
    const each = written[ids.indexOf(id)]!;
    if (each.kind === 'failed') job.result = each.result;
    else if (each.kind === 'not-begun') job.result = { kind: 'unsent' };
    else {
      const failure =
        each.kind === 'refused' ? classifyRecordErrors(each.errors, linked, each.requestId) : { kind: 'gone' as const };
      if ('result' in failure) {
        job.result = failure.result;
        continue;
      }
      job.remote = null;
      job.done.push(`${linked} ${id} deleted`);
    }
  }
}
