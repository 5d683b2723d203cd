import { classifyRecordErrors } from './classify.js';
import { factsOf, conformValue, type ObjectFacts, type Org } from './object-fields.js';
import type { Value } from '../records/decide-values.js';
import { type Clearing, type Forgetting, forgetRecords, type ForgetVendor } from '../records/forget-records.js';
import type { WriteReply } from '../records/reply.js';
import type { Job, ForgetStep, RemoteRecord } from './operation.js';
import { queryAll, soqlText } from './query.js';
import { deleteRecords, replyOf, type Written, writeRecords } from './write-records.js';

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
  for (const type of ['Lead', 'Contact'] as const) {
    const due = jobs.filter(({ step: { known } }) => (people.get(known.id) ?? known).type === type);
    await forgetRecords(due, new PeopleForgetting(org, type, people));
  }
}

/** The records of one type. */
class PeopleForgetting implements ForgetVendor<Job<ForgetStep>> {
  readonly causes = 'salesforce';

  /** @param people the records that still exist, by the known id. A converted lead's is its contact */
  constructor(
    private readonly org: Org,
    private readonly type: 'Lead' | 'Contact',
    private readonly people: ReadonlyMap<string, Pick<RemoteRecord, 'type' | 'id'>>,
  ) {}

  nameOf({ step: { known } }: Job<ForgetStep>): string {
    return `${known.type} ${known.id}`;
  }

  /** Clears the memberships first. A person whose membership could not be cleared is left for later. */
  async look(jobs: readonly Job<ForgetStep>[]): Promise<Map<Job<ForgetStep>, Forgetting>> {
    const states = new Map<Job<ForgetStep>, Forgetting>();
    const lost = jobs.filter(({ step }) => !this.people.has(step.known.id));
    const mergedInto = await mergedRecords(
      this.org,
      this.type,
      lost.map(({ step }) => step.known.id),
    );
    for (const job of lost) {
      const into = mergedInto.get(job.step.known.id);
      states.set(job, into === undefined ? { kind: 'gone' } : { kind: 'merged', into });
    }
    const found = jobs.filter((job) => !lost.includes(job));
    const clearing = found.filter(({ step }) => step.how === 'clear-our-fields');
    const failures = await clearMemberships(this.org, clearing);
    const facts = clearing.length === 0 ? undefined : await factsOf(this.org, this.type);
    for (const job of found) {
      const { id } = this.people.get(job.step.known.id)!;
      if (job.step.how === 'delete') states.set(job, { kind: 'delete', id });
      else states.set(job, { kind: 'clear', id, values: clearedFields(job.step, facts!) });
    }
    // Of several items with the same record, the failure of one holds back the others.
    for (const job of clearing) {
      const failure = failures.get(job.step.known.member?.id ?? '');
      if (failure === undefined) continue;
      const { id } = this.people.get(job.step.known.id)!;
      for (const other of clearing) {
        if (this.people.get(other.step.known.id)!.id === id) this.#end(other, replyOf(failure, this.type));
      }
    }
    return states;
  }

  async clear(records: readonly Clearing<Job<ForgetStep>>[]): Promise<WriteReply[]> {
    const { org, type } = this;
    const written = await writeRecords(
      org,
      { how: 'update', type },
      records.map(({ id, values }) => ({ id, ...values })),
    );
    return written.map((each) => this.#replyOf(each));
  }

  async remove(records: readonly { readonly id: string }[]): Promise<WriteReply[]> {
    const written = await deleteRecords(
      this.org,
      records.map(({ id }) => id),
    );
    return written.map((each) => this.#replyOf(each));
  }

  forgot(job: Job<ForgetStep>, how: 'cleared' | 'deleted', id: string | null): void {
    const { known } = job.step;
    job.remote = id === null || how === 'deleted' ? null : { ...known, id, written: [], member: null };
    job.done(id === null ? 'record no longer exists' : `${known.type} ${id} ${how}`);
  }

  #end(job: Job<ForgetStep>, reply: WriteReply): void {
    if (reply.kind === 'refused' || reply.kind === 'failed') job.end(reply.result);
  }

  #replyOf(written: Written): WriteReply {
    const isConverted =
      written.kind === 'refused' &&
      classifyRecordErrors(written.errors, this.type, written.requestId).kind === 'converted';
    if (!isConverted) return replyOf(written, this.type);
    return {
      kind: 'refused',
      result: { kind: 'retry', detail: 'the lead has been converted in the meantime' },
    };
  }
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

/** Returns the records into which lost ones were merged, by the id of the lost one. */
export async function mergedRecords(
  org: Org,
  type: 'Lead' | 'Contact',
  lost: readonly string[],
): Promise<Map<string, string>> {
  if (lost.length === 0 || !(await factsOf(org, type)).fields.has('masterrecordid')) return new Map();
  const soql = (list: string): string => `SELECT Id, MasterRecordId FROM ${type} WHERE Id IN (${list})`;
  const ids = lost.map((id) => soqlText(id));
  const rows = await queryAll(org, ids, soql, 'queryAll');
  return new Map(
    rows.flatMap(({ Id, MasterRecordId: into }) => (typeof into === 'string' ? [[String(Id), into] as const] : [])),
  );
}

/** Deletes or clears the memberships of people. @returns the failures by the id of the membership */
async function clearMemberships(org: Org, jobs: readonly Job<ForgetStep>[]): Promise<Map<string, Failure>> {
  return new Map([...(await deleteMembers(org, jobs)), ...(await clearMembers(org, jobs))]);
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
export function clearedFields({ known, keyField }: ForgetStep, facts: ObjectFacts): Record<string, Value> {
  const fields: Record<string, Value> = {};
  const written = known.keyed && keyField !== null ? [...known.written, keyField] : known.written;
  for (const field of written) {
    const found = facts.fields.get(field.toLowerCase());
    if (found === undefined || !found.updateable) continue;
    if (found.nillable || found.type === 'boolean') fields[found.name] = conformValue(null, found) ?? null;
    else if (known.created && texts.has(found.type)) fields[found.name] = REMOVED.slice(0, found.length || undefined);
  }
  return fields;
}
