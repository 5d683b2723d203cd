import { classifyRecordErrors } from './classify.js';
import type { CallBudget } from '../rest/rest-client.js';
import { conformValue, type ObjectFacts, type Org } from './object-fields.js';
import type { Job, FieldValue, ForgetStep, RemoteRecord } from './operation.js';
import { query, queriesFor, soqlText } from './query.js';
import { deleteRecords, type Written, writeRecords } from './write-records.js';

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
export async function forgetPeople(org: Org, jobs: readonly Job<ForgetStep>[], budget: CallBudget): Promise<void> {
  const people = await standing(org, jobs, budget);
  for (const type of ['Lead', 'Contact'] as const) {
    // Several items can have the same record, but a call may contain a record only once.
    const due = new Map<string, Job<ForgetStep>[]>();
    for (const job of jobs) {
      const { step } = job;
      const found = people.get(step.known.id);
      if (found === undefined || found.type !== type) continue;
      const name = `${step.how} ${found.id}`;
      due.set(name, [...(due.get(name) ?? []), job]);
    }
    const groups = [...due.values()];
    const cleared = groups.filter(([job]) => job!.step.how === 'clear-our-fields');
    const deleted = groups.filter(([job]) => job!.step.how === 'delete');
    if (cleared.length > 0) await clear(org, { type, groups: cleared, people }, budget);
    if (deleted.length > 0) {
      const ids = deleted.map(([job]) => people.get(job!.step.known.id)!.id);
      settleAll(deleted, await deleteRecords(org.client, ids, budget), 'deleted');
    }
  }
  for (const job of jobs) {
    if (job.done.length > 0 || job.result !== undefined) continue;
    if (people.has(job.step.known.id)) job.result = { kind: 'unsent' };
    else {
      job.remote = null;
      job.done.push('no record any more');
    }
  }
}

/** Reads the people that still exist, by their known ids. */
async function standing(
  org: Org,
  jobs: readonly Job<ForgetStep>[],
  budget: CallBudget,
): Promise<Map<string, Pick<RemoteRecord, 'type' | 'id'>>> {
  const people = new Map<string, Pick<RemoteRecord, 'type' | 'id'>>();
  for (const type of ['Lead', 'Contact'] as const) {
    const ids = jobs.flatMap(({ step: { known } }) => (known.type === type ? [soqlText(known.id)] : []));
    const columns = type === 'Lead' ? 'Id, IsConverted, ConvertedContactId' : 'Id';
    for (const each of queriesFor(ids, (list) => `SELECT ${columns} FROM ${type} WHERE Id IN (${list})`)) {
      for (const { Id, IsConverted, ConvertedContactId } of await query(org.client, each, budget)) {
        const isContact = IsConverted === true && typeof ConvertedContactId === 'string';
        people.set(String(Id), isContact ? { type: 'Contact', id: ConvertedContactId } : { type, id: String(Id) });
      }
    }
  }
  return people;
}

/** Records of one type whose fields must be cleared. Each group has the jobs for one record. */
interface Clearing {
  readonly type: 'Lead' | 'Contact';
  readonly groups: readonly (readonly Job<ForgetStep>[])[];
  readonly people: ReadonlyMap<string, Pick<RemoteRecord, 'id'>>;
}

async function clear(org: Org, { type, groups, people }: Clearing, budget: CallBudget): Promise<void> {
  const facts = await org.objects.of(type, budget);
  const records = groups.map((group) => ({
    id: people.get(group[0]!.step.known.id)!.id,
    ...Object.assign({}, ...group.map(({ step }) => clearedFields(step, facts))),
  }));
  const memberIds = groups.flat().flatMap(({ step: { known } }) => (known.member?.created ? [known.member.id] : []));
  let stopped: Written | undefined;
  if (memberIds.length > 0) {
    const gone = await deleteRecords(org.client, [...new Set(memberIds)], budget);
    stopped = gone.find((each) => each.kind === 'failed' || each.kind === 'not-begun');
  }
  stopped ??= await clearMembers(org, groups.flat(), budget);
  if (stopped !== undefined) {
    const each = stopped;
    return settleAll(
      groups,
      groups.map(() => each),
      'cleared',
    );
  }
  settleAll(groups, await writeRecords(org.client, { how: 'update', type }, records, budget), 'cleared');
}

/**
 * Clears the fields that this sink wrote in memberships that it did not create.
 * @returns the first result that is not a success; undefined if all were cleared
 */
async function clearMembers(
  org: Org,
  jobs: readonly Job<ForgetStep>[],
  budget: CallBudget,
): Promise<Exclude<Written, { kind: 'written' }> | undefined> {
  const members = new Map<string, Set<string>>();
  for (const { step } of jobs) {
    const { member } = step.known;
    if (member === null || member.created || member.written.length === 0) continue;
    members.set(member.id, new Set([...(members.get(member.id) ?? []), ...member.written]));
  }
  if (members.size === 0) return undefined;
  const { fields } = await org.objects.of('CampaignMember', budget);
  const records = [...members].map(([id, written]) => {
    const known = [...written].flatMap((field) => fields.get(field.toLowerCase()) ?? []);
    return { id, ...Object.fromEntries(known.map((field) => [field.name, conformValue(null, field) ?? null])) };
  });
  const cleared = await writeRecords(org.client, { how: 'update', type: 'CampaignMember' }, records, budget);
  return cleared.find((each): each is Exclude<Written, { kind: 'written' }> => {
    if (each.kind !== 'refused') return each.kind !== 'written';
    return classifyRecordErrors(each.errors, 'CampaignMember').kind !== 'gone';
  });
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
    for (const job of group) settle(job, written[index]!, done);
  });
}

function settle(job: Job<ForgetStep>, written: Written, done: 'cleared' | 'deleted'): void {
  const { known } = job.step;
  switch (written.kind) {
    case 'written':
      job.remote = done === 'deleted' ? null : { ...known, id: written.id, written: [], member: null };
      job.done.push(`${known.type} ${written.id} ${done}`);
      return;
    case 'failed':
      job.result = written.result;
      return;
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, known.type, written.requestId);
      if (failure.kind === 'gone') {
        job.remote = null;
        job.done.push('no record any more');
      } else
        job.result =
          failure.kind === 'converted' ? { kind: 'retry', detail: 'the lead was converted meanwhile' } : failure.result;
      return;
    }
    case 'not-begun':
      job.result = { kind: 'unsent' };
  }
}
