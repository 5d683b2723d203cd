import { groupBy } from '../../base/grouping.js';
import type { IsOurs, PresentValues, Value, ValueRules, ValueWrite } from '../records/decide-values.js';
import { needsPresent } from '../records/decide-values.js';
import type { WriteReply } from '../records/reply.js';
import type { Draft, Group } from '../records/write-merged.js';
import type { RecordJob, RecordVendor } from '../records/write-records.js';
import type { Result } from '../sink.js';
import type { PersonType } from './config.js';
import { findByIds, findPeople, type PersonRow, textOf } from './find-people.js';
import { conformValue, type FieldFacts, factsOf, type ObjectFacts, type Org } from './object-fields.js';
import type { PersonJob, PersonStep, RemoteRecord } from './operation.js';
import { isAmong, presentValues } from '../records/present-record.js';
import { type FieldValues, replyOf, type Write, type Written, writeRecords } from './write-records.js';

/** The search for the person of a job. */
export class PersonSearch implements RecordJob {
  id: string | null;
  type: PersonType;
  /** The present record; undefined if it was not read or does not exist. */
  row: PersonRow | undefined;

  constructor(readonly job: PersonJob) {
    this.id = job.remote?.id ?? null;
    this.type = job.remote?.type ?? job.step.objectType;
  }

  get step(): PersonStep {
    return this.job.step;
  }

  get isOpen(): boolean {
    return this.job.isOpen;
  }

  get happenedAtMs(): number {
    return this.step.happenedAtMs;
  }

  end(result: Result): void {
    this.job.end(result);
  }

  foundAs(row: PersonRow): void {
    this.row = row;
    this.id = row.id;
    this.type = row.type;
  }
}

interface PersonGroup extends Group<PersonSearch> {
  readonly type: PersonType;
}

type PersonDraft = Draft<PersonSearch, PersonGroup>;

/** Runs a search and the creation of people while no other lane does. @throws {CallsEnded} */
export type Alone = (work: () => Promise<void>) => Promise<void>;

const rules: ValueRules = {
  nameParts: ['firstname', 'lastname'],
  isSame: (name, present, value) =>
    name === 'email'
      ? textOf(present).toLowerCase() === String(value).trim().toLowerCase()
      : String(present) === String(value),
};

/** The leads and contacts of an org, as the record engine writes them. */
export class People implements RecordVendor<PersonSearch, PersonGroup> {
  readonly rules = rules;
  readonly #facts = new Map<PersonType, ObjectFacts>();

  /**
   * @param waiting e-mail addresses of people whose record for an earlier entry of `records` is not written yet. A retry
   * may create it
   */
  constructor(
    private readonly org: Org,
    private readonly waiting: ReadonlySet<string>,
    readonly alone: Alone,
  ) {}

  async readKnown(searches: readonly PersonSearch[]): Promise<void> {
    for (const type of ['Lead', 'Contact'] as const) {
      const jobs = searches.filter(
        (search) => search.type === type && (search.step.isOneWord || search.step.writes.some(needsPresent)),
      );
      const rows = await findByIds(this.org, { type, jobs, ids: jobs.map(({ id }) => id!) });
      for (const search of jobs) {
        search.row = rows.get(search.id!);
        if (search.row === undefined || search.row.isConverted) search.id = null;
      }
    }
  }

  /** Continues with the contacts of converted leads. */
  async follow(lost: readonly PersonSearch[]): Promise<readonly PersonSearch[]> {
    const jobs = lost.filter(({ job }) => job.remote?.type === 'Lead');
    if (jobs.length === 0) return [];
    const rows = await findByIds(this.org, { type: 'Lead', jobs, ids: jobs.map(({ job }) => job.remote!.id) });
    const contactIds = [...rows.values()].flatMap(({ contactId }) => (contactId === null ? [] : [contactId]));
    const contacts = await findByIds(this.org, { type: 'Contact', jobs, ids: contactIds });
    return jobs.filter((search) => {
      const { job } = search;
      const contact = contacts.get(rows.get(job.remote!.id)?.contactId ?? '');
      if (contact === undefined) return false;
      search.foundAs(contact);
      // Salesforce moved the lead's membership to the contact.
      job.remote = { ...job.remote!, type: 'Contact', id: contact.id };
      return true;
    });
  }

  async find(searches: readonly PersonSearch[]): Promise<void> {
    const found = await findPeople(this.org, searches);
    for (const search of searches) {
      search.job.remote = null;
      if (search.step.isUnsure) search.job.mayHaveCreated(search.step.isCreating); // until the record is written
      search.row = undefined;
      search.type = search.step.objectType;
      const each = found.get(search)!;
      if (each.kind === 'record') search.foundAs(each.row);
      if (each.kind !== 'ambiguous') continue;
      const shown = `${each.ids.slice(0, 3).join(', ')}${each.ids.length > 3 ? ', …' : ''}`;
      search.end({
        kind: 'rejected',
        cause: `salesforce:ambiguous-match:${each.by}`,
        about: 'record',
        detail: `${each.ids.length} records match by ${each.by} (${shown}): merge them, or choose one with "onSeveral", then redrive`,
      });
    }
  }

  mayCreate({ step, job }: PersonSearch): boolean {
    if (step.create) return true;
    if (this.waiting.has(step.email ?? '')) {
      job.end({ kind: 'retry', detail: 'waits for the record of the same person, which could not be written yet' });
    } else {
      if (step.isUnsure) job.remote = null;
      job.end({ kind: 'delivered', detail: 'nobody was found, and "create" is false' });
    }
    return false;
  }

  newNamesOf({ step }: PersonSearch): string[] {
    const byEmail = step.email !== null && step.match.some((by) => by !== 'externalId');
    return [
      ...(step.key === null ? [] : [`key ${step.key.value.toLowerCase()}`]),
      ...(byEmail ? [`email ${step.email}`] : []),
    ];
  }

  groupOf(id: string | null, members: readonly PersonSearch[]): PersonGroup {
    return { id, members, type: members[0]!.type };
  }

  async prepare(groups: readonly PersonGroup[]): Promise<void> {
    for (const { type } of groups) this.#facts.set(type, await factsOf(this.org, type));
  }

  /**
   * Whether the job can be written. If it cannot, because the person could not be found again without an external id, or
   * because a value does not fit its field, ends the job: Salesforce would refuse the whole call.
   */
  fits(search: PersonSearch, { id, type }: PersonGroup, members: readonly PersonSearch[]): boolean {
    const { step } = search;
    if (id === null && !members.some((each) => each.isOpen && each.step.key !== null)) {
      const detail = 'nobody was found, and without an external id a repeat would create the person twice';
      search.end({ kind: 'rejected', cause: 'salesforce:no-external-id', detail, about: 'record' });
      return false;
    }
    for (const { name, value } of step.writes) {
      const known = this.#fieldOf(type, name);
      // A person may have been found as the other object. Fields that it does not have are left out.
      if (known === undefined && type !== step.objectType) continue;
      if (known === undefined) {
        const detail = `${type} has no field ${name} that the user may see: create it, or remove it from "properties"`;
        search.end({ kind: 'rejected', cause: `salesforce:INVALID_FIELD:${name}`, detail });
        return false;
      }
      if (conformValue(value, known) === undefined) {
        const detail = `the mapping returns a value for ${type}.${name} that a field of type ${known.type} does not accept`;
        search.end({ kind: 'rejected', cause: `salesforce:wrong-type:${name}`, detail });
        return false;
      }
    }
    return true;
  }

  /** Returns the values of the mapping, and the external id if it is written to the existing record. */
  writesOf(search: PersonSearch, group: PersonGroup): readonly ValueWrite[] {
    const key = this.#keyFor(group, search);
    return key === undefined ? search.step.writes : [...search.step.writes, { ...key, policy: 'always' }];
  }

  presentOf(search: PersonSearch, group: PersonGroup): PresentValues | null {
    if (group.id === null) return null;
    const row = rowOf(group, search);
    if (row === undefined) return new Map();
    const { remote } = search.job;
    const hasOurKey = remote === null && this.#hasOurKey(search, group);
    // A person may have been found by the e-mail address, so nothing says that this sink wrote it.
    const isOurs = (field: string): IsOurs =>
      hasOurKey ||
      isAmong(field, remote?.written ?? []) ||
      (search.step.isUnsure && field !== 'email' ? 'maybe' : false);
    return presentValues(row, { writtenAtMs: remote?.writtenAtMs ?? null, isOurs });
  }

  conform(name: string, value: Value, { step }: PersonSearch, { type }: PersonGroup) {
    const known = this.#fieldOf(type, name);
    if (known === undefined || (type !== step.objectType && !known.updateable)) return undefined;
    if (isKey(name, step)) return [known.name, value] as const;
    // The value was removed in the service. If Salesforce requires the field, it keeps its value.
    if (value === null && !known.nillable && known.type !== 'boolean') return undefined;
    return [known.name, conformValue(value, known)!] as const;
  }

  async write(drafts: readonly PersonDraft[]): Promise<WriteReply[]> {
    const replies = new Map<PersonDraft, WriteReply>();
    // The drafts of one call have the same object, and are either all updated by id or all created by the same external
    // id field.
    for (const alike of groupBy(drafts, (draft) => JSON.stringify(this.#howOf(draft))).values()) {
      const how = this.#howOf(alike[0]!);
      const written = await writeRecords(
        this.org,
        how,
        alike.map((draft) => this.#recordOf(draft)),
      );
      // A field was deleted since the object's description was read.
      if (written.some(isUnknownField)) this.org.known.objects.delete(how.type);
      alike.forEach((draft, index) => replies.set(draft, replyOf(written[index]!, how.type)));
    }
    return drafts.map((draft) => replies.get(draft)!);
  }

  wrote(draft: PersonDraft, reply: Extract<WriteReply, { kind: 'written' }> | null): void {
    const { group, members } = draft;
    const { type } = group;
    const id = reply?.id ?? group.id!;
    const isNew = group.id === null && reply?.isNew === true;
    members.forEach((search, index) => {
      const { job } = search;
      const before = job.remote?.id === id ? job.remote : null;
      search.id = id;
      const isOwn = isNew || (job.step.isCreating && this.#hasOurKey(search, group));
      job.staysUnsure = job.step.isUnsure && !isOwn;
      if (reply === null) {
        job.remote = before ?? { type, id, created: false, keyed: false, written: [], writtenAtMs: 0, member: null };
        job.done(`${type} ${id} unchanged`);
        return;
      }
      const remote = this.#remoteOf(search, draft, id);
      const isFirst = isNew ? index === 0 : isOwn;
      job.remote = { ...remote, created: remote.created || isFirst, writtenAtMs: reply.atMs };
      job.done(`${type} ${id} ${isNew ? 'created' : 'updated'}`);
    });
  }

  unanswered(draft: PersonDraft): void {
    const { group, members } = draft;
    for (const search of members) {
      if (group.id === null) search.job.mayHaveCreated();
      else search.job.remote = this.#remoteOf(search, draft, group.id);
    }
  }

  /** Returns the result of a job whose values were written, or may have been, to an existing record. */
  #remoteOf(search: PersonSearch, { group, members, valuesOf }: PersonDraft, id: string): RemoteRecord {
    const { job } = search;
    const before = job.remote?.id === id ? job.remote : null;
    const own = [...valuesOf(search).keys()].filter((name) => !isKey(name, job.step));
    return {
      type: group.type,
      id,
      created: before?.created ?? false,
      keyed: (before?.keyed ?? false) || this.#isKeyed(search, group, members),
      written: [...new Set([...(before?.written ?? []), ...own])],
      writtenAtMs: before?.writtenAtMs ?? 0,
      member: before?.member ?? null,
      ...(before?.joining !== undefined && { joining: before.joining }),
    };
  }

  #fieldOf(type: PersonType, name: string): FieldFacts | undefined {
    return this.#facts.get(type)!.fields.get(name.toLowerCase());
  }

  /**
   * Returns the external id that the job writes to an existing record. It is written to a record without one, or with
   * one that this sink wrote. Any other external id stays, because it may connect the record with another event. Of
   * several items that share a record, the first one decides.
   */
  #keyFor(group: PersonGroup, search: PersonSearch): { readonly name: string; readonly value: string } | undefined {
    const { key } = search.step;
    if (group.id === null || key === null || search !== keyHolder(group.members)) return undefined;
    const known = this.#fieldOf(group.type, key.field);
    if (known === undefined || !known.updateable) return undefined;
    const row = rowOf(group, search);
    const isWritten =
      search.job.remote?.keyed === true ||
      (row !== undefined && textOf(row.values.get(known.name.toLowerCase())) === '');
    return isWritten ? { name: known.name, value: key.value } : undefined;
  }

  /**
   * Whether the record has the external id of this item. If several items share a record (two attendees with one e-mail
   * address), it has the external id of the first one, which the others must neither replace nor clear.
   */
  #isKeyed(search: PersonSearch, group: PersonGroup, members: readonly PersonSearch[]): boolean {
    const holder = keyHolder(members);
    if (holder === undefined || !isSameKey(search, holder)) return false;
    if (this.#fieldOf(group.type, holder.step.key!.field) === undefined) return false;
    return group.id === null || this.#keyFor(group, holder) !== undefined || this.#hasOurKey(holder, group);
  }

  /**
   * Whether the record has the external id of this item. In that case, this sink wrote the record earlier, even if the
   * ledger has no result for it.
   */
  #hasOurKey(search: PersonSearch, group: PersonGroup): boolean {
    const { key } = search.step;
    const known = key === null ? undefined : this.#fieldOf(group.type, key.field);
    if (key === null || known === undefined) return false;
    const now = rowOf(group, search)?.values.get(known.name.toLowerCase());
    return textOf(now).toLowerCase() === key.value.toLowerCase();
  }

  #howOf({ group: { type, id }, members }: PersonDraft): Write {
    if (id !== null) return { how: 'update', type };
    const { field } = keyHolder(members)!.step.key!;
    return { how: 'upsert', type, keyField: this.#fieldOf(type, field)?.name ?? field };
  }

  #recordOf({ group: { type, id }, members, values }: PersonDraft): FieldValues {
    if (id !== null) return { id, ...Object.fromEntries(values) };
    const { field, value } = keyHolder(members)!.step.key!;
    return { ...Object.fromEntries(values), [this.#fieldOf(type, field)?.name ?? field]: value };
  }
}

/** Returns the item whose external id the record has or gets. */
function keyHolder(members: readonly PersonSearch[]): PersonSearch | undefined {
  return members.find(({ isOpen, step }) => isOpen && step.key !== null);
}

function isSameKey({ step }: PersonSearch, holder: PersonSearch): boolean {
  return step.key !== null && step.key.value.toLowerCase() === holder.step.key!.value.toLowerCase();
}

/** Returns the present record, which one of the jobs may have read for the others. */
function rowOf({ members }: PersonGroup, search: PersonSearch): PersonRow | undefined {
  return search.row ?? members.find(({ row }) => row !== undefined)?.row;
}

function isKey(name: string, { key }: PersonStep): boolean {
  return key !== null && name.toLowerCase() === key.field.toLowerCase();
}

function isUnknownField(written: Written): boolean {
  return written.kind === 'refused' && written.errors.some(({ code }) => code.startsWith('INVALID_FIELD'));
}
