import { COLLEAGUE_ID, type OrgRecord } from '../../sandbox/salesforce/org.js';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import type { SalesforceOptions } from '../../sandbox/salesforce/salesforce-org.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Lane, ReadBack, Sink, Subject } from '../sink.js';
import type { SalesforceOperation } from './operation.js';
import { TestOrg } from './org.test-kit.js';
import { attendee, campaignKeys, gone, laneOf, pigeonhole } from './sample.test-kit.js';

const properties = {
  Email: 'item.Email',
  FirstName: { value: 'item.First', write: 'if-empty' },
  LastName: { value: 'item.Name', write: 'if-empty' },
  Company: 'item.Company',
  Title: 'item.Title',
  Seats__c: 'item.seats',
  Last_Event__c: { value: 'pigeonhole.name', write: 'if-newer' },
};
const task = {
  from: 'qna-questions',
  object: 'Task',
  externalId: { Engagement_Key__c: 'item.id & "@" & pigeonhole.id' },
  email: 'attendee.Email',
  properties: { Subject: '"Question"', Description: 'item.content' },
};

function person(id: number, more: Fields = {}): Subject {
  return attendee({
    id,
    First: `First${id}`,
    Name: `Last${id}`,
    Email: `P${id}@Example.com`,
    Company: 'Acme',
    Title: ' Analyst ',
    seats: 2,
    ...more,
  });
}

function question(id: number): Subject {
  const change = sampleChange({
    id: `q-${id}`,
    list: 'qna-questions',
    key: `q${id}`,
    data: { id, content: 'When?\r\n' },
  });
  return subjectOf(change, { pigeonhole, attendee: { Email: 'p1@example.com' } });
}

let org: TestOrg;
let sink: Sink<SalesforceOperation>;
let nowMs: number;
const objects = new Map<string, Fields | null>();
const lane: Lane = {
  ...laneOf(),
  async *objects() {
    for (const object of objects.values()) if (object !== null) yield object;
  },
};

beforeEach(() => {
  nowMs = Date.parse('2026-11-22T09:30:00Z');
  objects.clear();
});
afterEach(() => org.close());

async function open(record: object = {}, keys: object = {}, options: SalesforceOptions = {}, more: object = {}) {
  org = await TestOrg.open({ profile: 'noRules', app: 'external', now: () => nowMs, ...options });
  sink = org.sink({ properties, ...record }, keys, { now: () => nowMs, ...more });
}

const known = (subject: Subject): Subject => ({
  ...subject,
  object: objects.get(subject.change.key) ?? null,
  again: true,
});

/** Sends until nothing is left to retry, and lets time pass. */
async function send(subjects: readonly Subject[]): Promise<void> {
  let left = subjects;
  for (let rounds = 0; left.length > 0 && rounds < 5; rounds += 1) {
    const planned = await sink.plan(left.map(known));
    const operations = planned.flatMap((plan) => (plan.kind === 'send' ? [plan.operation] : []));
    const sent = left.filter((_, at) => planned[at]!.kind === 'send');
    const { outcomes } = await sink.send(operations, lane, new AbortController().signal);
    outcomes.forEach(({ object }, at) => object !== undefined && objects.set(sent[at]!.change.key, object));
    left = sent.filter((_, at) => !['delivered', 'rejected'].includes(outcomes[at]!.kind));
  }
  expect(left).toEqual([]);
  nowMs += 60_000;
}

async function readBack(subjects: readonly Subject[]) {
  const planned = await sink.plan(subjects.map(known));
  const entries = subjects.flatMap(({ change, removal }, at): ReadBack<SalesforceOperation>[] => {
    const plan = planned[at]!;
    if (plan.kind === 'nothing') return [];
    const object = objects.get(change.key) ?? null;
    const expected = removal === null ? 'content' : 'absence';
    return [{ change, removal, object, expected, operation: plan.kind === 'send' ? plan.operation : null }];
  });
  const results = await sink.readBack!(entries, lane, new AbortController().signal);
  const found = results.flatMap((result, at): [string, string][] => {
    const { change, operation, expected } = entries[at]!;
    if (result.kind === 'missing' && expected === 'absence') return [];
    if (result.kind === 'unreadable') return [[change.key, result.cause]];
    if (result.kind !== 'held') return [[change.key, result.kind]];
    const names = operation === null ? ['extra'] : sink.compareHeld!(operation, result.held);
    const copies = (result.copies ?? []).map(() => 'copy');
    const by = result.changedBy === undefined ? [] : [`by ${result.changedBy === COLLEAGUE_ID ? 'colleague' : '?'}`];
    return names.length + copies.length === 0 ? [] : [[change.key, [...names, ...copies, ...by].join(' ')]];
  });
  return { entries, results, found: Object.fromEntries(found) };
}

const audit = async (subjects: readonly Subject[]) => (await readBack(subjects)).found;

async function repaired(subjects: readonly Subject[]): Promise<void> {
  const { entries, results, found } = await readBack(subjects);
  for (const [at, result] of results.entries()) {
    if ('copies' in result && result.copies !== undefined) {
      await sink.removeHeld!([{ ...entries[at]!, copies: result.copies }], lane, new AbortController().signal);
    }
    if ('object' in result && result.object !== undefined) objects.set(entries[at]!.change.key, result.object);
  }
  await send(subjects.filter(({ change }) => change.key in found));
  expect(await audit(subjects)).toEqual({});
}

const lead = (at: number): OrgRecord => org.record('Lead', at);

describe('people', () => {
  const people = [1, 2, 3, 4, 5].map((id) => person(id));

  it('agree after a delivery, in one query', async () => {
    await open();
    const many = Array.from({ length: 150 }, (_, id) => person(id));
    await send(many);
    const before = org.calls().length;
    expect(await audit(many)).toEqual({});
    expect(org.calls().length - before).toBe(1);
  });

  it('that were edited, deleted or given another external id differ, as the mapping writes', async () => {
    await open();
    await send(people);
    org.change(lead(0), { Title: 'Countess', Phone: '1', Seats__c: 2.0 });
    org.change(lead(1), { FirstName: 'Augusta', LastName: 'Byron', Last_Event__c: 'Expo' });
    org.change(lead(2), { FirstName: null, Engagement_Id__c: '77' });
    org.change(lead(3), { Email: 'P4@EXAMPLE.com', Title: 'Analyst' });
    org.double.org.org.delete(lead(4));
    expect(await audit(people)).toEqual({
      1: 'Lead.Title by colleague',
      3: 'Lead.FirstName Lead.Engagement_Id__c by colleague',
      5: 'missing',
    });
    const byron = { ...lead(1).values };
    await repaired(people);
    expect(lead(0).values).toMatchObject({ Title: ' Analyst ', Phone: '1' });
    expect(lead(1).values).toEqual(byron);
    expect(org.all('Lead')).toHaveLength(5);
  });

  it('one revision behind differ', async () => {
    await open();
    await send([person(1)]);
    const next = person(1, { Company: 'New' });
    await send([next]);
    org.change(lead(0), { Company: 'Acme' });
    expect(await audit([next])).toEqual({ 1: 'Lead.Company by colleague' });
    expect(await audit([person(1)])).toEqual({});
    await repaired([next]);
  });

  it('that were converted are compared with their contact, and merged contacts with the one that is left', async () => {
    const contact = { object: 'Contact', match: ['externalId', 'contactEmail'] };
    const { Company: _, ...ofContact } = properties;
    const fields = { Contact: [field('Engagement_Id__c', { externalId: true, unique: true })] };
    await open({}, {}, { fields: { ...ownFields(), ...fields } });
    await send(people.slice(0, 2));
    org.convert(lead(0));
    expect(await audit(people.slice(0, 2))).toEqual({ 1: 'Lead.Engagement_Id__c by colleague' });
    await repaired(people.slice(0, 2));
    await org.close();
    objects.clear();
    await open(
      { ...contact, properties: ofContact },
      {},
      { fields: { ...ownFields(), Contact: [...ownFields().Contact, ...fields.Contact] } },
    );
    await send(people);
    const kept = org.add('Contact', { LastName: 'Kept', Email: 'p1@example.com', Title: 'Analyst', Seats__c: 2 });
    org.double.org.org.mergeContacts(kept, org.record('Contact', 0));
    expect(await audit(people)).toEqual({ 1: 'Contact.id Contact.Last_Event__c by colleague' });
    await repaired(people);
    expect(org.all('Contact')).toHaveLength(5);
  });

  it('that two items share have the values of the later one', async () => {
    await open();
    const [one, two] = [person(1, { Title: 'One' }), person(2, { Title: 'Two', Email: 'p1@example.com' })];
    await send([one, two]);
    expect([await audit([one, two]), await audit([one]), await audit([two])]).toEqual([{}, {}, {}]);
    await send([one]);
    expect(await audit([one, two])).toEqual({});
    org.change(lead(0), { Title: 'Three' });
    expect(await audit([one, two])).toEqual({ 1: 'Lead.Title by colleague' });
  });

  it('that a user duplicated with their external id are copies, which lose it in a repair', async () => {
    const fields = { ...ownFields(), Lead: [...ownFields().Lead, field('Key__c', { externalId: true })] };
    await open({ externalId: { Key__c: '$string(item.id)' } }, {}, { fields });
    await send(people);
    const copy = org.add('Lead', { LastName: 'Copy', Company: 'Acme', Key__c: '1' });
    org.add('Lead', { LastName: 'Other', Company: 'Acme', Key__c: '99' });
    expect(await audit(people)).toEqual({ 1: 'copy' });
    await repaired(people);
    expect(copy.values).toMatchObject({ LastName: 'Copy', Key__c: null });
    expect(org.all('Lead')).toHaveLength(7);
  });

  it('are extra after an erasure while they have our values, and stay after a deletion', async () => {
    for (const onForget of ['clear-our-fields', 'delete', 'manual'] as const) {
      await open({ campaign: campaignKeys }, {}, {}, { onForget });
      await send(people);
      const erased = { ...gone(1, 'consent-withdrawn', null), removal: 'erased' as const };
      expect(await audit([erased, gone(2, 'deleted', null)])).toEqual({ 1: onForget === 'manual' ? 'extra' : 'Lead' });
      if (onForget === 'manual') org.double.org.org.delete(lead(0));
      else await send([erased]);
      expect(await audit([erased])).toEqual({});
      if (onForget === 'manual') continue;
      await org.close();
      objects.clear();
    }
  });

  it('cannot be read if a field was renamed or is not visible', async () => {
    await open();
    await send(people);
    const fields = org.double.org.org.type('Lead').fields as unknown as Map<string, unknown>;
    fields.delete('Seats__c');
    sink = org.sink({ properties }, {}, { now: () => nowMs });
    expect(await audit([people[0]!])).toEqual({ 1: 'salesforce:INVALID_FIELD:Seats__c' });
  });
});

describe('campaign members', () => {
  const campaign = {
    ...campaignKeys,
    memberProperties: { Questions__c: 'item.asked', Note__c: { value: '"x"', write: 'if-empty' } },
  };
  const people = [1, 2, 3].map((id) => person(id, { asked: id }));

  it('that were removed or whose fields were edited differ; their status belongs to users', async () => {
    await open({ campaign });
    await send(people);
    expect(await audit(people)).toEqual({});
    org.double.org.org.delete(org.record('CampaignMember', 0));
    org.change(org.record('CampaignMember', 0), { Questions__c: 9, Note__c: 'y' });
    org.change(org.record('CampaignMember', 1), { Status: 'Responded' });
    expect(await audit(people)).toEqual({ 1: 'Lead.campaign', 2: 'Lead.campaign.Questions__c by colleague' });
    await repaired(people);
    expect(org.all('CampaignMember')).toHaveLength(3);
  });

  it('of a deleted item have the status for it', async () => {
    const removed = { ...campaignKeys, status: { ...campaignKeys.status, removed: 'Cancelled' } };
    await open({ campaign: removed });
    await send(people);
    const deleted = gone(1, 'deleted', null);
    expect(await audit([deleted])).toEqual({ 1: 'Lead' });
    await send([deleted]);
    expect(await audit([deleted])).toEqual({});
  });
});

describe('records that belong to people', () => {
  it('that were edited or deleted differ, and copies with their key are deleted in a repair', async () => {
    await open({ campaign: undefined }, { records: [task] });
    org.add('Lead', { LastName: 'One', Company: 'Acme', Email: 'p1@example.com' });
    const asked = [1, 2, 3].map(question);
    await send(asked);
    expect(await audit(asked)).toEqual({});
    org.change(org.record('Task', 0), { Description: 'Edited', Status: 'Completed' });
    org.double.org.org.delete(org.record('Task', 1));
    org.add('Task', { Subject: 'Copy', Engagement_Key__c: '3@101' });
    expect(await audit(asked)).toEqual({ q1: 'Task.Description by colleague', q2: 'missing', q3: 'copy' });
    await repaired(asked);
    expect(org.all('Task')).toHaveLength(3);
    expect(org.record('Task', 0).values.Status).toBe('Completed');
    const withdrawn = { ...asked[0]!, change: { ...asked[0]!.change, data: null }, removal: 'deleted' as const };
    expect(await audit([withdrawn])).toEqual({ q1: 'Task' });
    await send([withdrawn]);
    expect(await audit([withdrawn])).toEqual({});
  });
});

function ownFields() {
  const key = (name: string) => field(name, { externalId: true, unique: true });
  return {
    Lead: [key('Engagement_Id__c'), field('Seats__c', { type: 'double' as const }), field('Last_Event__c')],
    Contact: [field('Seats__c', { type: 'double' as const }), field('Last_Event__c')],
    Campaign: [key('Event_Id__c')],
  };
}
