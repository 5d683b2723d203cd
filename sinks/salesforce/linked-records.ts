import { conform, factsOf, type ObjectFacts, type Org } from './object-fields.js';
import { findPeople, type Found, textOf } from './find-people.js';
import type { Job, LinkedStep, UnlinkStep } from './operation.js';
import type { Value } from '../records/decide-values.js';
import { queryAll, soqlText } from './query.js';
import { deleteRecords, settle, type Write, type Written, writeRecords } from './write-records.js';
import { resolveLookups } from './lookups.js';
import type { OpenCreations } from './open-creations.js';

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
