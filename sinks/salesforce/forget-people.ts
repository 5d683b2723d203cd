import { groupBy } from '../../base/grouping.js';
import { mergedDetail } from '../mapping/crm-records.js';
import { classifyRecordErrors } from './classify.js';
import { factsOf, conformValue, type ObjectFacts, type Org } from './object-fields.js';
import type { Job, FieldValue, ForgetStep, RemoteRecord } from './operation.js';
import { queryAll, soqlText } from './query.js';
import { deleteRecords, settle, type Written, writeRecords } from './write-records.js';

/** The text that replaces values in fields that must not be empty. */
const REMOVED = 'removed';
/** The types of fields that accept this text. */
const texts: ReadonlySet<string> = new Set(['string', 'textarea', 'phone', 'url', 'encryptedstring']);

/**
 * Removes what was sent about people who must be forgotten. Depending on `onForget`, deletes their records, or clears
 * the fields that this sink wrote and deletes the memberships that it created. For a converted lead, the contact is
 * used.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function forgetPeople(org: Org, jobs: readonly Job<ForgetStep>[]): Promise<void> {
  const people = await standing(org, jobs);
  await settleMerged(
    org,
    jobs.filter(({ step }) => !people.has(step.known.id)),
  );
  for (const type of ['Lead', 'Contact'] as const) {
    // Several items can have the same record, but a call may contain a record only once.
    const due = jobs.filter(({ step }) => people.get(step.known.id)?.type === type);
    const groups = [...groupBy(due, ({ step }) => `${step.how} ${people.get(step.known.id)!.id}`).values()];
    const cleared = groups.filter(([job]) => job!.step.how === 'clear-our-fields');
    const deleted = groups.filter(([job]) => job!.step.how === 'delete');
    if (cleared.length > 0) await clear(org, { type, groups: cleared, people });
    if (deleted.length > 0) {
      const ids = deleted.map(([job]) => people.get(job!.step.known.id)!.id);
      settleAll(deleted, await deleteRecords(org, ids), 'deleted');
    }
  }
  for (const job of jobs) {
    if (job.done.length > 0 || job.result !== undefined) continue;
    if (people.has(job.step.known.id)) job.result = { kind: 'unsent' };
    else noteGone(job);
  }
}

function noteGone(job: Job<ForgetStep>): void {
  job.remote = null;
  job.done.push('record no longer exists');
}

/** Reads the people that still exist, by their known ids. */
async function standing(
  org: Org,
  jobs: readonly Job<ForgetStep>[],
): Promise<Map<string, Pick<RemoteRecord, 'type' | 'id'>>> {
  const people = new Map<string, Pick<RemoteRecord, 'type' | 'id'>>();
  for (const type of ['Lead', 'Contact'] as const) {
    const ids = jobs.flatMap(({ step: { known } }) => (known.type === type ? [soqlText(known.id)] : []));
    const columns = type === 'Lead' ? 'Id, IsConverted, ConvertedContactId' : 'Id';
    const soql = (list: string): string => `SELECT ${columns} FROM ${type} WHERE Id IN (${list})`;
    for (const { Id, IsConverted, ConvertedContactId } of await queryAll(org, ids, soql)) {
      const isContact = IsConverted === true && typeof ConvertedContactId === 'string';
      people.set(String(Id), isContact ? { type: 'Contact', id: ConvertedContactId } : { type, id: String(Id) });
    }
  }
  return people;
}

/**
 * Settles the jobs whose records were merged into other ones. Those may contain the person's values, and Salesforce does
 * not say which of them were the sink's, so the operator has to decide.
 */
async function settleMerged(org: Org, jobs: readonly Job<ForgetStep>[]): Promise<void> {
  for (const type of ['Lead', 'Contact'] as const) {
    const due = jobs.filter(({ step }) => step.known.type === type);
    if (due.length === 0 || !(await factsOf(org, type)).fields.has('masterrecordid')) continue;
    const soql = (list: string): string => `SELECT Id, MasterRecordId FROM ${type} WHERE Id IN (${list})`;
    const ids = due.map(({ step }) => soqlText(step.known.id));
    const rows = await queryAll(org, ids, soql, 'queryAll');
    const mergedInto = new Map(rows.map(({ Id, MasterRecordId }) => [String(Id), MasterRecordId]));
    for (const job of due) {
      const { id } = job.step.known;
      const master = mergedInto.get(id);
      if (typeof master !== 'string') continue;
      const detail = mergedDetail(`${type} ${id}`, master);
      job.result = { kind: 'rejected', cause: 'salesforce:merged', about: 'record', detail };
    }
  }
}

/** Records of one type whose fields must be cleared. Each group has the jobs for one record. */
interface Clearing {
  readonly type: 'Lead' | 'Contact';
  readonly groups: readonly (readonly Job<ForgetStep>[])[];
  readonly people: ReadonlyMap<string, Pick<RemoteRecord, 'id'>>;
}

/** Clears the memberships first, then the people. A person whose membership could not be cleared is left for later. */
async function clear(org: Org, { type, groups, people }: Clearing): Promise<void> {
  const failures = new Map([...(await deleteMembers(org, groups.flat())), ...(await clearMembers(org, groups.flat()))]);
  const rest: (typeof groups)[number][] = [];
  for (const group of groups) {
    const [failure] = group.flatMap(({ step: { known } }) => failures.get(known.member?.id ?? '') ?? []);
    if (failure === undefined) rest.push(group);
    else settleAll([group], [failure], 'cleared');
  }
  if (rest.length === 0) return;
  const facts = await factsOf(org, type);
  const records = rest.map((group) => ({
    id: people.get(group[0]!.step.known.id)!.id,
    ...Object.assign({}, ...group.map(({ step }) => clearedFields(step, facts))),
  }));
  settleAll(rest, await writeRecords(org, { how: 'update', type }, records), 'cleared');
}

type Failure = Exclude<Written, { kind: 'written' }>;

/** Deletes the memberships that this sink created. @returns the failures by the id of the membership */
async function deleteMembers(org: Org, jobs: readonly Job<ForgetStep>[]): Promise<Map<string, Failure>> {
  const ids = [...new Set(jobs.flatMap(({ step: { known } }) => (known.member?.created ? [known.member.id] : [])))];
  if (ids.length === 0) return new Map();
  return failuresOf(ids, await deleteRecords(org, ids));
}

/** Clears the fields that this sink wrote in memberships that it did not create. @returns the failures by id */
async function clearMembers(org: Org, jobs: readonly Job<ForgetStep>[]): Promise<Map<string, Failure>> {
  const members = new Map<string, Set<string>>();
  for (const { step } of jobs) {
    const { member } = step.known;
    if (member === null || member.created || member.written.length === 0) continue;
    members.set(member.id, new Set([...(members.get(member.id) ?? []), ...member.written]));
  }
  if (members.size === 0) return new Map();
  const { fields } = await factsOf(org, 'CampaignMember');
  const records = [...members].map(([id, written]) => {
    const known = [...written].flatMap((field) => fields.get(field.toLowerCase()) ?? []);
    return { id, ...Object.fromEntries(known.map((field) => [field.name, conformValue(null, field) ?? null])) };
  });
  const cleared = await writeRecords(org, { how: 'update', type: 'CampaignMember' }, records);
  return failuresOf([...members.keys()], cleared);
}

/** Returns the results about memberships that are not successes. A membership that no longer exists is a success. */
function failuresOf(ids: readonly string[], results: readonly Written[]): Map<string, Failure> {
  return new Map(
    results.flatMap((each, index) => {
      if (each.kind === 'written') return [];
      const isGone =
        each.kind === 'refused' && classifyRecordErrors(each.errors, 'CampaignMember', each.requestId).kind === 'gone';
      return isGone ? [] : [[ids[index]!, each] as const];
    }),
  );
}

/**
 * Returns the values that clear a record's fields. If a field must not be empty, it is overwritten on a record that
 * this sink created. On an existing record it is left, because its value (such as a contact's name) belongs to the
 * org's users.
 */
function clearedFields({ known, keyField }: ForgetStep, facts: ObjectFacts): Record<string, FieldValue> {
  const fields: Record<string, FieldValue> = {};
  const written = known.keyed && keyField !== null ? [...known.written, keyField] : known.written;
  for (const field of written) {
    const found = facts.fields.get(field.toLowerCase());
    if (found === undefined || !found.updateable) continue;
    if (found.nillable || found.type === 'boolean') fields[found.name] = conformValue(null, found) ?? null;
    else if (known.created && texts.has(found.type)) fields[found.name] = REMOVED.slice(0, found.length || undefined);
  }
  return fields;
}

function settleAll(
  groups: readonly (readonly Job<ForgetStep>[])[],
  written: readonly Written[],
  done: 'cleared' | 'deleted',
): void {
  groups.forEach((group, index) => {
    for (const job of group) {
      const { known } = job.step;
      settle(job, written[index]!, known.type, {
        written({ id }) {
          job.remote = done === 'deleted' ? null : { ...known, id, written: [], member: null };
          job.done.push(`${known.type} ${id} ${done}`);
        },
        lost(why) {
          if (why === 'gone') noteGone(job);
          else job.result = { kind: 'retry', detail: 'the lead has been converted in the meantime' };
        },
      });
    }
  });
}
