import { lockedRow } from '../../sandbox/salesforce/record-rules.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Outcome } from '../sink.js';
import { TestOrg } from './org.test-kit.js';
import { attendee, campaignKeys, deliver, gone } from './sample.test-kit.js';

const ada = { id: 7, Name: 'Lovelace', Email: 'Ada@Example.com' };

let org: TestOrg;

beforeEach(async () => {
  org = await TestOrg.open();
});
afterEach(() => org.close());

const sinkWith = (record: object = {}, environment: object = {}) => org.sink(record, {}, environment);

const objectOf = (outcome: Outcome | undefined): Fields => outcome!.object!;

describe('a person who was deleted in the service', () => {
  const status = { ...campaignKeys.status, removed: 'Cancelled' };

  it('stays without a request if no status for it is configured', async () => {
    const sink = sinkWith({ campaign: campaignKeys });
    const [before] = await deliver(sink, [attendee(ada)]);
    expect(await sink.plan([gone(7, 'deleted', objectOf(before))])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
  });

  it('stays, and the membership gets the configured status', async () => {
    const sink = sinkWith({ campaign: { ...campaignKeys, status } });
    const [before] = await deliver(sink, [attendee(ada)]);
    const [outcome] = await deliver(sink, [gone(7, 'deleted', objectOf(before))]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Cancelled' }]);
    expect(org.all('Lead')).toHaveLength(1);
    expect(objectOf(outcome).Lead).toMatchObject({ member: { status: 'Cancelled' } });
  });

  it('keeps a status that a user set', async () => {
    const sink = sinkWith({ campaign: { ...campaignKeys, status } });
    const [before] = await deliver(sink, [attendee(ada)]);
    org.add('CampaignMemberStatus', { CampaignId: org.record('Campaign').id, Label: 'VIP' });
    org.change(org.record('CampaignMember'), { Status: 'VIP' });
    await deliver(sink, [gone(7, 'deleted', objectOf(before))]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'VIP' }]);
  });
});

describe('a person who withdrew consent', () => {
  const campaign = { campaign: campaignKeys };

  it('has the written fields cleared and the membership deleted, on a record that the sink created', async () => {
    const sink = sinkWith(campaign);
    const [before] = await deliver(sink, [attendee(ada)]);
    const [outcome] = await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))]);
    expect(org.all('Lead')).toMatchObject([
      { Email: null, LastName: 'removed', Company: 'removed', Engagement_Id__c: null },
    ]);
    expect(org.all('CampaignMember')).toEqual([]);
    expect(objectOf(outcome).Lead).toMatchObject({ written: [], member: null });
  });

  it('is left to an operator if the contact was merged into another one', async () => {
    const sink = sinkWith();
    const contact = org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const kept = org.add('Contact', { Email: 'king@example.com', LastName: 'King' });
    const [before] = await deliver(sink, [attendee(ada)]);
    org.double.org.org.mergeContacts(kept, contact);
    expect(await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))])).toMatchObject([
      { kind: 'rejected', cause: 'salesforce:merged', detail: expect.stringContaining(`into ${kept.id}:`) },
    ]);
  });

  it('needs nothing if the contact was deleted', async () => {
    const sink = sinkWith();
    org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    const [before] = await deliver(sink, [attendee(ada)]);
    org.clear('Contact');
    expect(await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))])).toMatchObject([
      { kind: 'delivered', detail: 'record no longer exists' },
    ]);
  });

  it('is left to an operator if the response to the creation was lost', async () => {
    const sink = sinkWith();
    org.double.faults.add({ method: 'PATCH', path: '/composite/sobjects', effect: { kind: 'dropAfter' } });
    const [lost] = await deliver(sink, [attendee(ada)]);
    expect(org.all('Lead')).toMatchObject([{ Email: 'Ada@Example.com' }]);
    expect(lost).toMatchObject({ kind: 'retry', object: { Lead: { mayExist: true } } });
    expect(await sink.plan([gone(7, 'consent-withdrawn', objectOf(lost))])).toMatchObject([
      {
        kind: 'unplannable',
        cause: 'forget-by-hand',
        detail: expect.stringContaining('search for the person in Lead'),
      },
    ]);
    // An attempt that fails before it searches knows no more than the one before.
    org.double.faults.add({ path: '/query', effect: { kind: 'dropBefore' } });
    const [failed] = await deliver(sink, [attendee(ada, { object: objectOf(lost) })]);
    expect(failed).toMatchObject({ kind: 'retry', object: { Lead: { mayExist: true } } });
    const [found] = await deliver(sink, [attendee(ada, { object: objectOf(failed) })]);
    expect(objectOf(found).Lead).toMatchObject({ id: org.record('Lead').id, keyed: true });
  });

  it('is not reported as forgotten if the user may not delete the membership', async () => {
    const sink = sinkWith(campaign);
    const [before] = await deliver(sink, [attendee(ada)]);
    org.double.org.permissions.CampaignMember = { deletable: false };
    const [outcome] = await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))]);
    expect(outcome).toMatchObject({ kind: 'rejected', cause: 'salesforce:INSUFFICIENT_ACCESS_OR_READONLY' });
    expect(org.all('Lead')).toMatchObject([{ Email: 'Ada@Example.com' }]);
    expect(objectOf(outcome).Lead).toMatchObject({ member: { id: org.record('CampaignMember').id } });
  });

  it('is forgotten although the membership of another person cannot be deleted now', async () => {
    const sink = sinkWith(campaign);
    const before = await deliver(sink, [
      attendee(ada),
      attendee({ id: 8, Name: 'Hopper', Email: 'grace@example.com' }),
    ]);
    org.double.org.recordFaults.add(lockedRow('CampaignMember'));
    const changes = [7, 8].map((id, index) => gone(id, 'consent-withdrawn', objectOf(before[index])));
    expect(await deliver(sink, changes)).toMatchObject([{ kind: 'retry' }, { kind: 'delivered' }]);
    expect(org.all('Lead').map(({ Email }) => Email)).toEqual(['Ada@Example.com', null]);
  });

  it('keeps the name on an existing record, and the values that the sink did not write', async () => {
    const contact = org.add('Contact', { Email: 'ada@example.com', LastName: 'L.', FirstName: 'A.' });
    const sink = sinkWith();
    const [before] = await deliver(sink, [attendee(ada)]);
    await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))]);
    expect(contact.values).toMatchObject({ Email: 'ada@example.com', LastName: 'Lovelace', FirstName: 'A.' });
  });

  it('is deleted if configured, even if it is sent again', async () => {
    const sink = sinkWith({}, { onForget: 'delete' });
    const [before] = await deliver(sink, [attendee(ada)]);
    for (let times = 0; times < 2; times += 1) {
      expect(await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(before))])).toMatchObject([
        { kind: 'delivered', object: null },
      ]);
    }
    expect(org.all('Lead')).toEqual([]);
  });

  it('is left to an operator if configured', async () => {
    const sink = sinkWith({}, { onForget: 'manual' });
    const [before] = await deliver(sink, [attendee(ada)]);
    expect(await sink.plan([gone(7, 'consent-withdrawn', objectOf(before))])).toMatchObject([
      { kind: 'unplannable', cause: 'forget-by-hand' },
    ]);
  });

  it('needs nothing if the sink never sent the person', async () => {
    expect(await sinkWith().plan([gone(7, 'consent-withdrawn', null)])).toEqual([
      { kind: 'nothing', reason: 'never-sent' },
    ]);
  });
});

describe('an item that becomes anonymous', () => {
  const record = {
    from: 'qna-questions',
    externalId: { Engagement_Id__c: '$string(attendee.id)' },
    properties: { Email: 'attendee.Email', Last_Event__c: 'item.content' },
    create: false,
  };
  const question = (data: Fields, around: object = {}) =>
    subjectOf(sampleChange({ list: 'qna-questions', type: 'qna-questions.created', data: { id: 1, ...data } }), around);

  it('is removed from the person, whose record stays even if people are deleted on forgetting', async () => {
    const lead = org.add('Lead', { Email: 'ada@example.com', LastName: 'Lovelace', Company: 'ACME' });
    const sink = sinkWith(record, { onForget: 'delete' });
    const named = question({ content: 'Why?', attendee: { id: 7 } }, { attendee: ada });
    const [before] = await deliver(sink, [named]);
    expect(lead.values).toMatchObject({ Last_Event__c: 'Why?' });
    await deliver(sink, [question({ content: 'Why?', attendee: { anonymous: true } }, { object: objectOf(before) })]);
    expect(lead.values).toMatchObject({ Last_Event__c: null, LastName: 'Lovelace', Email: 'ada@example.com' });
  });

  it('needs nothing if it never identified a person', async () => {
    const plans = await sinkWith(record).plan([question({ content: 'Why?', attendee: { anonymous: true } })]);
    expect(plans).toEqual([{ kind: 'nothing', reason: 'no-person' }]);
  });
});

describe('a field that the item no longer has', () => {
  it('is cleared if this sink wrote it, and kept if it is required', async () => {
    const sink = sinkWith({
      properties: { Email: 'item.Email', LastName: 'item.Name', FirstName: 'item.First', Company: '"x"' },
    });
    const [before] = await deliver(sink, [attendee({ ...ada, First: 'Ada' })]);
    await deliver(sink, [attendee({ id: 7, Email: ada.Email }, { object: objectOf(before) })]);
    expect(org.all('Lead')).toMatchObject([{ FirstName: null, LastName: 'Lovelace', Email: 'Ada@Example.com' }]);
  });
});
