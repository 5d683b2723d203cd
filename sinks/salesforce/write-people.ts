import { groupBy } from '../../base/grouping.js';
import { classifyRecordErrors } from './classify.js';
import { factsOf, conformValue, type ObjectFacts, type Org } from './object-fields.js';
import { decideFields, keepNameWhole } from './decide-fields.js';
import { type PersonGroup, textOf } from './find-people.js';
import { isOpen, type PersonJob, type FieldValue } from './operation.js';
import { type Write, type Written, writeRecords } from './write-records.js';

/** Some or all jobs of a group, which are written together. */
interface Part {
  readonly group: PersonGroup;
  readonly members: readonly PersonJob[];
}

/** One write of a group's record. */
interface Draft extends Part {
  /** Values by field name. If the write creates the record, the external id is in `key` instead. */
  readonly fields: Map<string, FieldValue>;
  readonly key: { readonly field: string; readonly value: string } | null;
  readonly keyed: boolean;
}

/**
 * Writes the record of each group. If Salesforce refuses a record that merges several items, the items are tried one at
 * a time, so that only the faulty one is refused.
 * @returns the jobs whose record no longer exists or was converted. The caller searches their people again
 * @throws {CallFailure} if the org does not describe its objects
 */
export async function writePeople(org: Org, groups: readonly PersonGroup[]): Promise<PersonJob[]> {
  const lost: PersonJob[] = [];
  let parts: Part[] = groups.map((group) => ({ group, members: group.members }));
  while (parts.length > 0) {
    const drafts = await draftsOf(org, parts);
    const again: Part[] = [];
    for (const draft of drafts.filter(saysNothing)) again.push(...settleUnchanged(draft));
    for (const [write, batch] of byWrite(drafts.filter((draft) => !saysNothing(draft)))) {
      const written = await writeRecords(org, write, batch.map(recordOf));
      // A field was deleted since the object's description was read.
      if (written.some(isUnknownField)) org.known.objects.delete(write.type);
      batch.forEach((draft, index) => again.push(...settle(draft, written[index]!, lost)));
    }
    parts = again;
  }
  return lost;
}

async function draftsOf(org: Org, parts: readonly Part[]): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const { group, members } of parts) {
    const facts = await factsOf(org, group.type);
    const canCreate = members.some((job) => isOpen(job) && job.step.key !== null);
    const fit = members.filter(
      (job) => isOpen(job) && (group.id !== null || needsKey(job, canCreate)) && isFit(job, group, facts),
    );
    if (fit.length > 0) drafts.push(draftOf(group, fit, facts));
  }
  return drafts;
}

/**
 * Whether the job may create a person. If it may not, because the person could not be found again without an external
 * id, settles the job.
 */
function needsKey(job: PersonJob, canCreate: boolean): boolean {
  if (canCreate) return true;
  const detail = 'nobody was found, and without an external id a repeat would create the person twice';
  job.result = { kind: 'rejected', cause: 'salesforce:no-external-id', detail, about: 'record' };
  return false;
}

/**
 * Whether all values of the job fit their fields. If one does not, settles the job, because Salesforce would refuse the
 * whole call.
 */
function isFit(job: PersonJob, { type }: PersonGroup, facts: ObjectFacts): boolean {
  const { step } = job;
  for (const { field, value } of step.writes) {
    const known = facts.fields.get(field.toLowerCase());
    // A person may have been found as the other object. Fields that it does not have are left out.
    if (known === undefined && type !== step.objectType) continue;
    if (known === undefined) {
      const detail = `${type} has no field ${field} that the user may see: create it, or remove it from "properties"`;
      job.result = { kind: 'rejected', cause: `salesforce:INVALID_FIELD:${field}`, detail };
      return false;
    }
    if (conformValue(value, known) === undefined) {
      const detail = `the mapping returns a value for ${type}.${field} that a field of type ${known.type} does not accept`;
      job.result = { kind: 'rejected', cause: `salesforce:wrong-type:${field}`, detail };
      return false;
    }
  }
  return true;
}

/** Merges the values of several items. If two items set the same field, the later change wins. */
function draftOf(group: PersonGroup, members: readonly PersonJob[], facts: ObjectFacts): Draft {
  const fields = new Map<string, FieldValue>();
  for (const { step, remote } of members) {
    const present = group.id === null ? null : (group.present ?? { values: new Map(), lastModifiedAtMs: Infinity });
    const writtenAtMs = remote?.writtenAtMs ?? null;
    const times = {
      happenedAtMs: step.happenedAtMs,
      writtenAtMs,
      isOurs: remote !== null || hasOurKey(group, step, facts),
    };
    const decided = decideFields(step.writes, present, times);
    keepNameWhole(decided, step.writes, (field) => {
      const drafted = facts.fields.get(field)?.name ?? '';
      return textOf(fields.has(drafted) ? fields.get(drafted) : group.present?.values.get(field));
    });
    for (const [field, value] of decided) {
      const known = facts.fields.get(field.toLowerCase());
      const isOther = group.type !== step.objectType;
      if (known === undefined || (isOther && !known.updateable)) continue;
      // The value was removed in the service. If Salesforce requires the field, it keeps its value.
      if (value === null && !known.nillable && known.type !== 'boolean') continue;
      fields.set(known.name, conformValue(value, known)!);
    }
  }
  const { key, keyed } = keyOf(group, members, facts);
  if (group.id !== null && key !== null) fields.set(key.field, key.value);
  return { group, members, fields, key, keyed };
}

/**
 * Whether the record has the external id of this item. In that case, this sink wrote the record earlier, even if the
 * ledger has no result for it.
 */
function hasOurKey({ present }: PersonGroup, { key }: PersonJob['step'], facts: ObjectFacts): boolean {
  const known = key === null ? undefined : facts.fields.get(key.field.toLowerCase());
  if (key === null || known === undefined) return false;
  return textOf(present?.values.get(known.name.toLowerCase())).toLowerCase() === key.value.toLowerCase();
}

/**
 * Returns the external id to write. It is written to a new record, and to a record without one or with one that this
 * sink wrote. Any other external id stays, because it may connect the record with another event.
 */
function keyOf(group: PersonGroup, members: readonly PersonJob[], facts: ObjectFacts): Pick<Draft, 'key' | 'keyed'> {
  const job = members.find(({ step }) => step.key !== null);
  const key = job?.step.key ?? null;
  const known = key === null ? undefined : facts.fields.get(key.field.toLowerCase());
  if (key === null || known === undefined) return { key: null, keyed: false };
  if (group.id === null) return { key: { field: known.name, value: key.value }, keyed: true };
  if (!known.updateable) return { key: null, keyed: false };
  if (job?.remote?.keyed === true) return { key: { field: known.name, value: key.value }, keyed: true };
  if (group.present === null) return { key: null, keyed: false };
  const now = group.present.values.get(known.name.toLowerCase());
  if (textOf(now) === '') return { key: { field: known.name, value: key.value }, keyed: true };
  return { key: null, keyed: hasOurKey(group, job!.step, facts) };
}

function isUnknownField(written: Written): boolean {
  return written.kind === 'refused' && written.errors.some(({ code }) => code.startsWith('INVALID_FIELD'));
}

/**
 * Whether an update contains no field. Such an update is not sent, because it would still change the record's time of
 * last modification.
 */
function saysNothing({ group, fields }: Draft): boolean {
  return group.id !== null && fields.size === 0;
}

function settleUnchanged({ group, members }: Draft): Part[] {
  const { type, id } = group;
  for (const job of members) {
    const before = job.remote?.id === id ? job.remote : null;
    job.remote = before ?? { type, id: id!, created: false, keyed: false, written: [], writtenAtMs: 0, member: null };
    job.done.push(`${type} ${id} unchanged`);
  }
  return laterOf(group);
}

/** Returns the next item of a group whose items are tried one at a time. */
function laterOf(group: PersonGroup): Part[] {
  const next = group.members.find((job) => isOpen(job) && job.done.length === 0);
  return next === undefined ? [] : [{ group, members: [next] }];
}

function recordOf({ group, fields, key }: Draft): Record<string, FieldValue> {
  const record: Record<string, FieldValue> = Object.fromEntries(fields);
  if (group.id !== null) return { id: group.id, ...record };
  return { ...record, [key!.field]: key!.value };
}

/**
 * Groups drafts by call. The drafts of one call have the same object, and are either all updated by id or all created
 * by the same external id field.
 */
function byWrite(drafts: readonly Draft[]): [Write, Draft[]][] {
  const alike = groupBy(drafts, (draft) => JSON.stringify(writeOf(draft)));
  return [...alike.values()].map((same) => [writeOf(same[0]!), same]);
}

function writeOf({ group: { type, id }, key }: Draft): Write {
  return id === null ? { how: 'upsert', type, keyField: key!.field } : { how: 'update', type };
}

/**
 * Settles the jobs of a draft with its result.
 * @returns the items of the group that must be written next, one at a time
 */
function settle(draft: Draft, written: Written, lost: PersonJob[]): Part[] {
  const { group, members, fields, keyed } = draft;
  switch (written.kind) {
    case 'not-begun':
      return [];
    case 'failed':
      for (const job of group.members) {
        if (group.id === null && written.mayBeOpen === true && isOpen(job)) job.mayExist = true;
        job.result ??= written.result;
      }
      return [];
    case 'written': {
      const created = group.id === null && written.created;
      group.id = written.id;
      members.forEach((job, index) => {
        const before = job.remote?.id === written.id ? job.remote : null;
        job.remote = {
          type: group.type,
          id: written.id,
          created: (before?.created ?? false) || (created && index === 0),
          keyed: (before?.keyed ?? false) || (keyed && hasKeyOf(job, draft)),
          written: [...new Set([...(before?.written ?? []), ...fieldsOf(job, fields)])],
          writtenAtMs: written.atMs,
          member: before?.member ?? null,
        };
        job.done.push(`${group.type} ${written.id} ${created ? 'created' : 'updated'}`);
      });
      return laterOf(group);
    }
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, group.type, written.requestId);
      if (failure.kind === 'gone' || failure.kind === 'converted') {
        lost.push(...group.members.filter((job) => isOpen(job) && job.done.length === 0));
        return [];
      }
      // If the refusal is permanent and several items were merged, tries the items one at a time to find the faulty
      // one.
      if (members.length > 1 && failure.result.kind === 'rejected') return [{ group, members: [members[0]!] }];
      for (const job of members) job.result = failure.result;
      return laterOf(group);
    }
  }
}

/**
 * Whether the record has the external id of this item. If several items share a record (two attendees with one e-mail
 * address), it has the external id of the first one, which the others must neither replace nor clear.
 */
function hasKeyOf({ step }: PersonJob, { members }: Draft): boolean {
  const first = members.find((job) => job.step.key !== null)?.step.key;
  return step.key !== null && step.key.value.toLowerCase() === first?.value.toLowerCase();
}

/** Returns those of the written fields that come from this item's mapping. */
function fieldsOf({ step }: PersonJob, fields: ReadonlyMap<string, FieldValue>): string[] {
  const own = new Set(step.writes.map(({ field }) => field.toLowerCase()));
  return [...fields.keys()].filter((field) => own.has(field.toLowerCase()));
}
