import { field } from '../../sandbox/salesforce/sobject-type.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Outcome, Subject } from '../sink.js';
import { TestOrg } from './org.test-kit.js';
import { attendee, campaignKeys, deliver, gone, pigeonhole } from './sample.test-kit.js';

let org: TestOrg;
beforeEach(async () => {
  org = await TestOrg.open();
});
afterEach(() => org.close());

const sinkWith = (records: readonly object[], environment: object = {}) => org.sink({}, { records }, environment);

const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
const objectOf = (outcome: Outcome | undefined): Fields => outcome!.object!;
const ada = { id: 7, Name: 'Lovelace', Email: 'ada@example.com' };

const person = {
  from: 'attendees',
  object: 'Lead',
  externalId: { Engagement_Id__c: '$string(item.id)' },
  properties: { Email: 'item.Email', LastName: { value: 'item.Name', write: 'if-empty' }, Company: '"x"' },
};
const task = {
  from: 'qna-questions',
  object: 'Task',
  when: 'item.status = "allowed"',
  externalId: { Engagement_Key__c: '"question-" & $string(item.id)' },
  email: '$email(attendee.Email)',
  properties: {
    Subject: '"Question at " & pigeonhole.name',
    Description: 'item.content',
    Status: '"Completed"',
    ActivityDate: '$eventDate(item.createdAt)',
  },
};
const event = { ...pigeonhole, timezone: 'Europe/Berlin' };
const asked = { id: 9001, content: 'Why?', status: 'allowed', createdAt: '2026-11-21T10:00:00Z', attendee: { id: 7 } };

function question(data: Fields, around: Partial<Subject> = {}): Subject {
  const change = sampleChange({ id: 'q-9001', list: 'qna-questions', key: '9001', data: { ...asked, ...data } });
  return subjectOf(change, { attendee: ada, pigeonhole: event, ...around });
}

describe('a task for each question', () => {
  it('is created once for a contact, follows the question, and is deleted with it', async () => {
    const contact = org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const sink = sinkWith([task]);
    const [first] = await deliver(sink, [question({})]);
    expect(kinds(await deliver(sink, [question({})]))).toEqual(['delivered']); // as after a lost response
    expect(org.all('Task')).toEqual([
      expect.objectContaining({
        WhoId: contact.id,
        Subject: 'Question at ACME Summit',
        Description: 'Why?',
        ActivityDate: '2026-11-21',
        Status: 'Completed',
      }),
    ]);
    const [edited] = await deliver(sink, [question({ content: 'Why not?' }, { object: objectOf(first) })]);
    expect(org.all('Task')).toEqual([expect.objectContaining({ Description: 'Why not?', WhoId: contact.id })]);
    const [withdrawn] = await deliver(sink, [question({ status: 'hidden' }, { object: objectOf(edited) })]);
    expect([withdrawn, org.all('Task')]).toMatchObject([{ kind: 'delivered', object: null }, []]);
    expect(org.all('Contact')).toEqual([expect.objectContaining({ LastName: 'L.' })]);
  });

  it('is created once even if its field is not flagged External ID', async () => {
    await org.close();
    org = await TestOrg.open({ fields: { Task: [field('Engagement_Key__c')] } });
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const sink = sinkWith([task]);
    expect((await sink.check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
    const other = question({ id: 9002 });
    await deliver(sink, [question({})]);
    await deliver(sink, [question({ content: 'Well?' }), { ...other, change: { ...other.change, id: 'q-9002' } }]);
    expect(org.all('Task').map(({ Engagement_Key__c, Description }) => [Engagement_Key__c, Description])).toEqual([
      ['question-9001', 'Well?'],
      ['question-9002', 'Why?'],
    ]);
  });

  it('is created for a lead of the same batch, and is related to no other record', async () => {
    const campaign = { WhatId: { object: 'Campaign', externalId: { Event_Id__c: '$string(pigeonhole.id)' } } };
    org.add('Campaign', { Name: 'Summit', Event_Id__c: '101' });
    const sink = sinkWith([person, { ...task, lookups: campaign }]);
    expect(kinds(await deliver(sink, [question({}), attendee(ada)]))).toEqual(['delivered', 'delivered']);
    expect(org.all('Task')).toEqual([expect.objectContaining({ WhoId: org.record('Lead').id })]);
    expect(org.record('Task').values.WhatId ?? null).toBeNull();
  });

  it('of a contact is related to the campaign found by its external id', async () => {
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const { id } = org.add('Campaign', { Name: 'Summit', Event_Id__c: '101' });
    const campaign = { WhatId: { object: 'Campaign', externalId: { Event_Id__c: '$string(pigeonhole.id)' } } };
    await deliver(sinkWith([{ ...task, lookups: campaign }]), [question({})]);
    expect(org.all('Task')).toEqual([expect.objectContaining({ WhatId: id })]);
  });

  it('is deleted even if a batch deletes more records than one call allows', async () => {
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const second = { ...task, externalId: { Engagement_Key__c: '"second-" & $string(item.id)' } };
    const sink = sinkWith([task, second]);
    const all = Array.from({ length: 101 }, (_, at) => {
      const asking = question({ id: 9001 + at });
      return { ...asking, change: { ...asking.change, id: `q-${at}`, key: String(at) } };
    });
    const made = await deliver(sink, all);
    expect(org.all('Task')).toHaveLength(202);
    const removal = 'consent-withdrawn' as const;
    const gone = await deliver(
      sink,
      all.map((each, at) => ({ ...each, removal, object: objectOf(made[at]) })),
    );
    expect(new Set(kinds(gone))).toEqual(new Set(['delivered']));
    expect(org.all('Task')).toEqual([]);
  });

  it('is deleted if the question becomes anonymous, and if the person withdraws consent', async () => {
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const sink = sinkWith([task]);
    const anonymous = { attendee: { anonymous: true } };
    const [first] = await deliver(sink, [question({})]);
    await deliver(sink, [question(anonymous, { attendee: null, object: objectOf(first) })]);
    expect(org.all('Task')).toEqual([]);
    const [second] = await deliver(sink, [question({})]);
    const removed = { ...question({}), removal: 'consent-withdrawn' as const, object: objectOf(second) };
    await deliver(sink, [removed]);
    await deliver(sink, [removed]); // a repetition
    expect(org.all('Task')).toEqual([]);
  });

  it('is not created for a person unknown to the org, who is not created either', async () => {
    const [outcome] = await deliver(sinkWith([task]), [question({})]);
    expect(outcome).toMatchObject({ kind: 'delivered', detail: 'the person was not found', object: null });
    expect([org.all('Task'), org.all('Lead'), org.all('Contact')]).toEqual([[], [], []]);
  });

  it('that a user deleted is created again by the next change', async () => {
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const sink = sinkWith([task]);
    const [first] = await deliver(sink, [question({})]);
    org.clear('Task');
    const [lost] = await deliver(sink, [question({ content: 'Well?' }, { object: objectOf(first) })]);
    expect(lost).toMatchObject({ kind: 'retry', object: null });
    expect(kinds(await deliver(sink, [question({ content: 'Well?' })]))).toEqual(['delivered']);
    expect(org.all('Task')).toEqual([
      expect.objectContaining({ Description: 'Well?', WhoId: org.record('Contact').id }),
    ]);
  });
});

describe('a custom object', () => {
  const attendance = {
    from: 'attendees',
    object: 'Attendance__c',
    externalId: { Engagement_Key__c: '$string(pigeonhole.id) & "-" & $string(item.id)' },
    match: ['externalId'],
    person: { externalId: { Engagement_Id__c: '$string(item.id)' }, Lead: 'Lead__c', Contact: 'Contact__c' },
    properties: { Minutes__c: 'item.minutes' },
  };

  it('has a record for a person found by external id', async () => {
    const sink = sinkWith([person, attendance]);
    const [outcome] = await deliver(sink, [attendee({ ...ada, minutes: 45 })]);
    expect(org.all('Attendance__c')).toEqual([
      expect.objectContaining({ Lead__c: org.record('Lead').id, Minutes__c: 45, Engagement_Key__c: '101-7' }),
    ]);
    expect(Object.keys(objectOf(outcome))).toEqual(['Lead', 'Attendance__c']);
  });

  it('has its fields, links and the permission to delete checked', async () => {
    org.double.org.permissions.Attendance__c = { deletable: false };
    const wrong = {
      ...attendance,
      person: { ...attendance.person, Lead: 'Contact__c' },
      properties: { Nothing__c: '1' },
    };
    const lines = await sinkWith([wrong]).check(new AbortController().signal);
    expect(lines.filter(({ ok }) => !ok).map(({ text }) => text)).toEqual([
      expect.stringContaining('the user may not delete a Attendance__c'),
      expect.stringContaining('properties.Nothing__c: Attendance__c has no such field'),
      expect.stringContaining('person.Lead: Attendance__c has no field Contact__c that holds the id of a Lead'),
    ]);
  });
});

describe('the account of a new contact', () => {
  const house = '0018d0000000099AAA';
  const contact = (lookup: object = {}): object => ({
    from: 'attendees',
    object: 'Contact',
    externalId: { Engagement_Id__c: '$string(item.id)' },
    match: ['contactEmail'],
    properties: { Email: 'item.Email', LastName: { value: 'item.Name', write: 'if-empty' } },
    lookups: { AccountId: { externalId: { Domain__c: '$substringAfter(item.Email, "@")' }, ...lookup } },
  });
  const open = async (): Promise<void> => {
    const key = (name: string) => field(name, { externalId: true, unique: true });
    await org.close();
    org = await TestOrg.open({ fields: { Contact: [key('Engagement_Id__c')], Account: [key('Domain__c')] } });
  };

  it('is found by an external id or is the configured one, and existing contacts keep theirs', async () => {
    await open();
    const acme = org.add('Account', { Name: 'ACME', Domain__c: 'example.com' });
    const other = org.add('Account', { Name: 'Other', Domain__c: 'other.example' });
    const known = org.add('Contact', { LastName: 'B.', Email: 'bob@example.com', AccountId: other.id });
    const people = [attendee(ada), attendee({ id: 8, Name: 'Bob', Email: 'bob@example.com' })];
    await deliver(sinkWith([contact({ otherwise: other.id })]), [
      ...people,
      attendee({ id: 9, Name: 'Cher', Email: 'cher@nowhere.example' }),
    ]);
    expect(org.all('Contact').map(({ LastName, AccountId }) => [LastName, AccountId])).toEqual([
      ['B.', other.id],
      ['Lovelace', acme.id],
      ['Cher', other.id],
    ]);
    expect(known.values.AccountId).toBe(other.id);
  });

  it('is missed by the check, which warns that the contact would be private', async () => {
    await open();
    const warnings = async (record: object): Promise<string[]> =>
      (await sinkWith([record]).check(new AbortController().signal))
        .map(({ text }) => text)
        .filter((text) => text.includes('private'));
    expect(await warnings({ ...contact(), lookups: {} })).toEqual([expect.stringContaining('set "lookups.AccountId"')]);
    expect(await warnings(contact())).toEqual([expect.stringContaining('set "lookups.AccountId.otherwise"')]);
    expect(await warnings(contact({ otherwise: house }))).toEqual([]);
  });
});

describe('fields of a campaign member', () => {
  const counted = {
    from: 'engagement',
    when: 'item.scope = "pigeonhole"',
    object: 'Lead',
    create: false,
    match: ['contactEmail', 'leadEmail'],
    email: '$email(attendee.Email)',
    properties: {},
    campaign: {
      ...campaignKeys,
      attended: 'true',
      memberProperties: { Questions__c: 'item.asked', Credit__c: 'item.interactions', Note__c: 'item.note' },
    },
  };
  const engagement = (data: Fields, object: Fields | null = null): Subject =>
    subjectOf(
      sampleChange({ id: 'e-1', list: 'engagement', key: 'e1', data: { scope: 'pigeonhole', attendeeId: 7, ...data } }),
      { attendee: ada, pigeonhole, object },
    );

  it('contain counts and credit, and are updated without a change of the status', async () => {
    const lead = org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'x' });
    const sink = sinkWith([counted]);
    const [first] = await deliver(sink, [engagement({ asked: 1, interactions: 4, note: 'x' })]);
    const member = org.record('CampaignMember');
    expect(member.values).toMatchObject({ LeadId: lead.id, Status: 'Responded', Questions__c: 1, Credit__c: 4 });
    org.change(member, { Status: 'Sent' }); // as a colleague would
    const [second] = await deliver(sink, [engagement({ asked: 2, interactions: 5 }, objectOf(first))]);
    expect(member.values).toMatchObject({ Status: 'Sent', Questions__c: 2, Credit__c: 5, Note__c: null });
    const before = org.writes('CampaignMember').length;
    await deliver(sink, [engagement({ asked: 2, interactions: 5 }, objectOf(second))]);
    expect(org.writes('CampaignMember')).toHaveLength(before);
  });

  it('are cleared in a membership that a user created, which stays', async () => {
    const campaign = org.add('Campaign', { Name: 'Summit', Event_Id__c: '101' });
    const lead = org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'x' });
    const member = org.add('CampaignMember', { CampaignId: campaign.id, LeadId: lead.id, Note__c: 'VIP' });
    const sink = sinkWith([counted]);
    const [first] = await deliver(sink, [engagement({ asked: 3 })]);
    expect(member.values).toMatchObject({ Questions__c: 3, Note__c: 'VIP' });
    await deliver(sink, [
      { ...gone(7, 'consent-withdrawn', objectOf(first)), change: { ...engagement({}).change, data: null } },
    ]);
    expect(member.values).toMatchObject({ Questions__c: null, Note__c: 'VIP', IsDeleted: false });
  });

  it('that reject a value make the change a dead letter', async () => {
    org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'x' });
    const [outcome] = await deliver(sinkWith([counted]), [engagement({ asked: 'many' })]);
    expect(outcome).toMatchObject({ kind: 'rejected', cause: 'salesforce:wrong-type:CampaignMember.Questions__c' });
  });

  it('are validated by the check', async () => {
    const wrong = { ...counted, campaign: { ...counted.campaign, memberProperties: { Nothing__c: '1' } } };
    const lines = await sinkWith([wrong]).check(new AbortController().signal);
    expect(lines.filter(({ ok }) => !ok).map(({ text }) => text)).toEqual([
      expect.stringContaining('campaign.memberProperties.Nothing__c: CampaignMember has no such field'),
    ]);
  });
});
