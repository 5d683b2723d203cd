import { forgetsPerson, type Planned, type Subject, type OnForget } from '../sink.js';
import { MappingError } from '../mapping/mapping-error.js';
import { type MappingView, mappingView } from '../mapping/expression.js';
import { truncate } from '../mapping/mapping-functions.js';
import type { Value, ValueWrite } from '../records/decide-values.js';
import { type CampaignKeys, isPersonType, type KeyField, type PersonType, type RecordKeys } from './config.js';
import { fieldValue } from './object-fields.js';
import {
  emailAddress,
  happenedAtMs,
  isAnonymous,
  mayBeCreated,
  mayExistIn,
  mayHoldMore,
  type NamedRecord,
  withoutAnswer,
} from '../mapping/crm-records.js';
import {
  type CampaignStep,
  type KeyValue,
  type LinkedStep,
  type Lookup,
  type SalesforceOperation,
  type Step,
  linkedRecordOf,
  type RemoteMember,
  remoteRecordOf,
} from './operation.js';

/** Maximum length of Campaign.Name. Source: Salesforce, object reference, Campaign. */
const LONGEST_CAMPAIGN_NAME = 80;

type Entry = NamedRecord<RecordKeys>;

/** Plans the steps for a change. Pure. @throws {MappingError} */
export async function planSubject(
  subject: Subject,
  records: readonly Entry[],
  onForget: OnForget,
): Promise<Planned<SalesforceOperation>> {
  const { change, removal, object: made } = subject;
  if (forgetsPerson(removal)) requireAllKnown(made);
  const planned: (Step | string)[] = [];
  for (const record of records) {
    if (record.keys.from !== change.list) continue;
    const { object } = record.keys;
    if (!isPersonType(object)) planned.push(await linkedStep(subject, record, onForget));
    else if (forgetsPerson(removal)) planned.push(forgetStep(subject, record, onForget));
    else if (removal === 'deleted') planned.push(memberStatusStep(subject, record, 'kept'));
    else planned.push(await personStep(subject, record, object));
  }
  const steps = planned.filter((each): each is Step => typeof each !== 'string');
  if (steps.length > 0) {
    return { kind: 'send', operation: { changeId: change.id, steps, object: made } };
  }
  return { kind: 'nothing', reason: planned.find((each) => typeof each === 'string') ?? 'no-record' };
}

/**
 * Plans an operation for a change that an earlier attempt may have sent, although nothing of it is planned now. It is never
 * sent: `recover` stores that Salesforce may have records of the item. Pure.
 */
export function planLookUp({ change, object }: Subject, records: readonly Entry[]): Planned<SalesforceOperation> {
  const names = records.filter(({ keys }) => keys.from === change.list).map(({ name }) => name);
  if (names.length === 0) return { kind: 'nothing', reason: 'no-record' };
  return { kind: 'send', operation: { changeId: change.id, steps: [], object: withoutAnswer(object, names) } };
}

/**
 * Checks that the ids of all records of a person who must be forgotten are known. A removal has no value by which a
 * record or a campaign membership could be found whose creation Salesforce did not answer.
 * @throws {MappingError}
 */
function requireAllKnown(object: Subject['object']): void {
  const joining = Object.keys(object ?? {}).filter((name) => remoteRecordOf(object, name)?.joining !== undefined);
  const unknown = [...new Set([...mayExistIn(object), ...joining])];
  if (unknown.length === 0) return;
  const known = Object.keys(object!).flatMap((name) => {
    const record = remoteRecordOf(object, name) ?? linkedRecordOf(object, name);
    return record === null ? [] : [`, and remove their data from ${name} ${record.id}`];
  });
  throw new MappingError(
    'forget-by-hand',
    `a person must be forgotten, and Salesforce may have created a record without answering: search for the person in ${unknown.join(', ')}${known.join('')} by hand`,
  );
}

function forgetStep({ object }: Subject, { name, keys }: Entry, onForget: OnForget): Step | string {
  const known = remoteRecordOf(object, name);
  if (known === null) return 'never-sent';
  if (onForget === 'manual') {
    throw new MappingError(
      'forget-by-hand',
      `a person must be forgotten: remove their data from ${known.type} ${known.id} by hand ("onForget: manual")`,
    );
  }
  return { kind: 'forget', record: name, how: onForget, known, keyField: keys.externalId?.field ?? null };
}

/** Returns a step that sets the membership's status for removed people; `reason` if there is none to set. */
function memberStatusStep({ object }: Subject, { name, keys }: Entry, reason: string): Step | string {
  const known = remoteRecordOf(object, name);
  const status = keys.campaign?.status;
  if (known?.member == null || status?.removed === undefined) return reason;
  const ours = [status.registered, status.attended];
  return { kind: 'leave', record: name, known, status: status.removed, ours };
}

async function personStep(subject: Subject, record: Entry, objectType: PersonType): Promise<Step | string> {
  const { keys, name, path } = record;
  const view = mappingView(subject);
  if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) {
    return memberStatusStep(subject, record, 'condition');
  }
  const known = remoteRecordOf(subject.object, name);
  if (isAnonymous(subject)) {
    if (known === null) return 'no-person';
    // The person's record is never deleted: only the interaction has become anonymous.
    return { kind: 'forget', record: name, how: 'clear-our-fields', known, keyField: null };
  }
  const key = keys.externalId === undefined ? null : await keyValue(keys.externalId, view, `${path}.externalId`);
  const writes = await writesOf(keys.properties, view, `${path}.properties`, known?.written ?? []);
  const email =
    keys.email === undefined
      ? emailAddress(writes.find(({ name }) => name === 'Email')?.value)
      : emailAddress(await keys.email.evaluate(view, `${path}.email`));
  if (known === null && key === null && email === null) return 'no-key';
  return {
    kind: 'person',
    record: name,
    objectType,
    known,
    key,
    email,
    match: keys.match,
    onSeveral: keys.onSeveral,
    create: keys.create,
    writes,
    isOneWord:
      Object.hasOwn(keys.properties, 'FirstName') &&
      !writes.some(({ name, value }) => name === 'FirstName' && value !== null),
    lookups: await lookupsOf(keys, view, path),
    happenedAtMs: happenedAtMs(subject),
    isUnsure: mayHoldMore(subject.object, name),
    isCreating: mayBeCreated(subject.object, name),
    campaign:
      keys.campaign === undefined
        ? null
        : await campaignStep(keys.campaign, view, `${path}.campaign`, known?.member ?? null),
  };
}

/** @param written fields that this sink has written; those that the item no longer has are cleared */
async function writesOf(
  properties: RecordKeys['properties'],
  view: MappingView,
  path: string,
  written: readonly string[],
): Promise<ValueWrite[]> {
  const writes: ValueWrite[] = [];
  for (const [field, { value, write }] of Object.entries(properties)) {
    const given = await value.evaluate(view, `${path}.${field}`, fieldValue);
    // An item that no longer has a value clears the field that this sink has written.
    const cleared = write === 'always' && written.includes(field) ? null : undefined;
    const wanted = given === undefined ? cleared : given;
    if (wanted === undefined) continue;
    // The address identifies the person, so it is never cleared.
    if (wanted === null && field.toLowerCase() === 'email') continue;
    writes.push({ name: field, value: wanted, policy: write });
  }
  return writes;
}

async function lookupsOf({ lookups }: RecordKeys, view: MappingView, path: string): Promise<Lookup[]> {
  const asked: Lookup[] = [];
  for (const [field, { object = null, externalId, otherwise, write }] of Object.entries(lookups)) {
    const key = await keyValue(externalId, view, `${path}.lookups.${field}.externalId`);
    asked.push({ field, object, keyField: externalId.field, key, otherwise: otherwise ?? null, policy: write });
  }
  return asked;
}

/**
 * Plans a record that belongs to a person: writes it, or deletes it if its item is deleted, its condition no longer
 * holds, or its person must not be known. It may be deleted because this sink wrote all of it.
 */
async function linkedStep(subject: Subject, { keys, name, path }: Entry, onForget: OnForget): Promise<Step | string> {
  const known = linkedRecordOf(subject.object, name);
  const unlink = (reason: string): Step | string => (known === null ? reason : { kind: 'unlink', record: name, known });
  if (forgetsPerson(subject.removal)) {
    if (known === null || onForget !== 'manual') return unlink('never-sent');
    throw new MappingError(
      'forget-by-hand',
      `a person must be forgotten: delete ${known.linked} ${known.id} by hand ("onForget: manual")`,
    );
  }
  if (subject.removal === 'deleted') return unlink('never-sent');
  const view = mappingView(subject);
  if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) return unlink('condition');
  if (isAnonymous(subject)) return unlink('no-person');
  const key = await keyValue(keys.externalId!, view, `${path}.externalId`);
  const { person = {} } = keys;
  const whose = {
    key: person.externalId === undefined ? null : await keyValue(person.externalId, view, `${path}.person.externalId`),
    email: keys.email === undefined ? null : emailAddress(await keys.email.evaluate(view, `${path}.email`)),
    match: keys.match,
    onSeveral: keys.onSeveral,
  };
  if (key === null || (whose.key === null && whose.email === null)) return 'no-key';
  const links: LinkedStep['links'] =
    keys.object === 'Task'
      ? { Lead: person.Lead ?? 'WhoId', Contact: person.Contact ?? 'WhoId' }
      : { Lead: person.Lead, Contact: person.Contact };
  const writes: ValueWrite[] = [];
  for (const [field, { value }] of Object.entries(keys.properties)) {
    // Only this sink writes its fields, so fields that the item no longer has are cleared.
    const given = await value.evaluate(view, `${path}.properties.${field}`, fieldValue);
    if (given !== undefined || known !== null) writes.push({ name: field, value: given ?? null, policy: 'always' });
  }
  const lookups = await lookupsOf(keys, view, path);
  return { kind: 'linked', record: name, object: keys.object, known, key, writes, lookups, person: whose, links };
}

async function campaignStep(
  keys: CampaignKeys,
  view: MappingView,
  path: string,
  member: RemoteMember | null,
): Promise<CampaignStep> {
  const key = await keyValue(keys.externalId, view, `${path}.externalId`);
  if (key === null) throw new MappingError(`mapping: ${path}.externalId: empty`, `${path}.externalId returns no value`);
  const fields: Record<string, Value> = {};
  for (const [field, value] of Object.entries(keys.properties)) {
    const given = await value.evaluate(view, `${path}.properties.${field}`, fieldValue);
    if (given !== undefined) fields[field] = given;
  }
  const name =
    keys.name === undefined ? view.pigeonhole?.name : await keys.name.evaluate(view, `${path}.name`, fieldValue);
  // Salesforce requires a name, so an empty one is replaced by the key.
  fields.Name = truncate(typeof name === 'string' && name.trim() !== '' ? name : key.value, LONGEST_CAMPAIGN_NAME);
  const attended =
    keys.attended === undefined
      ? Boolean(view.item?.signInTime ?? view.item?.signedInAt)
      : await keys.attended.holds(view, `${path}.attended`);
  const { registered, attended: present } = keys.status;
  return {
    key,
    fields,
    stage: attended ? 'attended' : 'registered',
    status: { registered, attended: present },
    memberWrites: await writesOf(keys.memberProperties, view, `${path}.memberProperties`, member?.written ?? []),
  };
}

async function keyValue({ field, value }: KeyField, view: MappingView, path: string): Promise<KeyValue | null> {
  const given = await value.evaluate(view, `${path}.${field}`, fieldValue);
  if (given === undefined || given === null) return null;
  const trimmed = String(given).trim();
  return trimmed === '' ? null : { field, value: trimmed };
}
