import type { Fields, Outcome } from '../sink.js';
import { lockedRow } from '../../sandbox/salesforce/record-rules.js';
import { salesforceFaults } from '../../sandbox/salesforce/start-salesforce-double.js';
import { TestOrg } from './org.test-kit.js';
import { attendee, campaignKeys, deliver, laneOf } from './sample.test-kit.js';

const ada = { id: 7, Name: 'Lovelace', Email: 'Ada@Example.com' };
const bob = { id: 8, Name: 'Bob', Email: 'bob@example.com' };

let org: TestOrg;

beforeEach(async () => {
  org = await TestOrg.open();
});
afterEach(() => org.close());

const sinkWith = (record: object = {}, environment: object = {}) => org.sink(record, {}, environment);

const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
const causeOf = (outcome: Outcome | undefined): string =>
  outcome !== undefined && 'cause' in outcome ? outcome.cause : '';
const objectOf = (outcome: Outcome | undefined): Fields => outcome!.object!;

describe('a new person', () => {
  it('is created by external id, and only once if the request is repeated', async () => {
    const sink = sinkWith();
    expect(kinds(await deliver(sink, [attendee(ada)]))).toEqual(['delivered']);
    expect(kinds(await deliver(sink, [attendee(ada)]))).toEqual(['delivered']);
    expect(org.all('Lead')).toMatchObject([
      { Engagement_Id__c: '7', LastName: 'Lovelace', Email: 'Ada@Example.com', Company: 'unknown' },
    ]);
  });

  it('is not created if create is false', async () => {
    const outcomes = await deliver(sinkWith({ create: false }), [attendee(ada)]);
    expect(outcomes).toMatchObject([{ kind: 'delivered', detail: expect.stringContaining('nobody') }]);
    expect(org.all('Lead')).toEqual([]);
  });

  it('is created once by two lanes that send the same person at the same time', async () => {
    const sink = sinkWith();
    await Promise.all([deliver(sink, [attendee(ada)]), deliver(sink, [attendee({ ...ada, id: 9 })])]);
    expect(org.all('Lead')).toHaveLength(1);
  });

  it('is created once for two items of a batch with one e-mail address, and both are delivered', async () => {
    const outcomes = await deliver(sinkWith(), [attendee(ada), attendee({ ...ada, id: 9, Name: 'King' })]);
    expect(kinds(outcomes)).toEqual(['delivered', 'delivered']);
    expect(org.all('Lead')).toMatchObject([{ Engagement_Id__c: '7', LastName: 'King' }]);
    expect(objectOf(outcomes[0]).Lead).toMatchObject({ id: org.record('Lead').id, created: true });
  });

  it('keeps the external id of the first of two items with one e-mail address when the second changes', async () => {
    const sink = sinkWith();
    const king = { ...ada, id: 9, Name: 'King' };
    const [first, second] = await deliver(sink, [attendee(ada), attendee(king)]);
    expect([objectOf(first).Lead, objectOf(second).Lead]).toMatchObject([{ keyed: true }, { keyed: false }]);
    await deliver(sink, [attendee({ ...king, Name: 'Byron' }, { object: objectOf(second) })]);
    expect(org.all('Lead')).toMatchObject([{ Engagement_Id__c: '7', LastName: 'Byron' }]);
  });
});

describe('a person whom the org knows without an external id', () => {
  it('is found by e-mail, first as a contact, which receives no field that contacts lack', async () => {
    const contact = org.add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'ACME' });
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(objectOf(outcome).Lead).toMatchObject({ type: 'Contact', id: contact.id, created: false, keyed: false });
    expect(contact.values).toMatchObject({ LastName: 'Lovelace' });
    expect(contact.values).not.toHaveProperty('Company');
    expect(org.all('Lead')).toMatchObject([{ LastName: 'L.' }]);
  });

  it('is found as a lead, which receives the external id', async () => {
    const lead = org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'ACME' });
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(lead.values).toMatchObject({ Engagement_Id__c: '7', LastName: 'Lovelace' });
    expect(objectOf(outcome).Lead).toMatchObject({ id: lead.id, keyed: true });
    expect(org.all('Lead')).toHaveLength(1);
  });

  it('keeps an existing external id', async () => {
    const lead = org.add('Lead', { LastName: 'L.', Email: 'ada@example.com', Engagement_Id__c: '3', Company: 'ACME' });
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(lead.values).toMatchObject({ Engagement_Id__c: '3', LastName: 'Lovelace' });
    expect(objectOf(outcome).Lead).toMatchObject({ keyed: false });
  });

  it('is not guessed if there are several matches', async () => {
    const ids = ['L.', 'M.'].map((LastName) => org.add('Contact', { Email: 'ada@example.com', LastName }).id);
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(causeOf(outcome)).toBe('salesforce:ambiguous-match:Contact.Email');
    expect(outcome).toMatchObject({ detail: expect.stringContaining(ids[0]!) });
    expect(org.all('Lead')).toEqual([]);
  });

  it('is found as the contact of a converted lead', async () => {
    const contact = org.convert(org.add('Lead', { LastName: 'L.', Email: 'ada@example.com', Company: 'ACME' }));
    org.change(contact, { Email: 'other@example.com' });
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(objectOf(outcome).Lead).toMatchObject({ type: 'Contact', id: contact.id });
    expect(contact.values).toMatchObject({ LastName: 'Lovelace' });
  });

  it('is found by values that contain quotes and backslashes', async () => {
    const lead = org.add('Lead', { LastName: 'L.', Email: "o'neil@example.com", Company: 'ACME' });
    await deliver(sinkWith(), [attendee({ ...ada, Email: "O'Neil@example.com" })]);
    expect(lead.values).toMatchObject({ LastName: 'Lovelace' });
  });
});

describe('a person whose record is known', () => {
  it('is updated by id without a look-up, even with another e-mail address', async () => {
    const sink = sinkWith();
    const [before] = await deliver(sink, [attendee(ada)]);
    const asked = org.queries('Lead').length;
    await deliver(sink, [attendee({ ...ada, Email: 'ada@new.example' }, { object: objectOf(before) })]);
    expect(org.all('Lead')).toMatchObject([{ Email: 'ada@new.example' }]);
    expect(org.queries('Lead')).toHaveLength(asked);
  });

  it('keeps a name of two words if the item has only the first one', async () => {
    const contact = org.add('Contact', { FirstName: 'Ada', LastName: 'Lovelace', Email: 'ada@example.com' });
    const properties = { Email: 'item.Email', FirstName: '$firstName(item.Name)', LastName: '$lastName(item.Name)' };
    const sink = sinkWith({ properties: { ...properties, Company: '"x"' } });
    const [before] = await deliver(sink, [attendee({ ...ada, Name: 'Ada Lovelace' })]);
    await deliver(sink, [attendee({ ...ada, Name: 'Ada' }, { object: objectOf(before) })]);
    expect(contact.values).toMatchObject({ Name: 'Ada Lovelace' });
  });

  it('is looked up again if the record was deleted', async () => {
    const sink = sinkWith();
    const [before] = await deliver(sink, [attendee(ada)]);
    org.clear('Lead');
    const [outcome] = await deliver(sink, [attendee(ada, { object: objectOf(before) })]);
    expect(kinds([outcome!])).toEqual(['delivered']);
    expect(objectOf(outcome).Lead).toMatchObject({ id: org.record('Lead').id });
  });

  it('is updated as a contact if the lead was converted', async () => {
    const sink = sinkWith();
    const [before] = await deliver(sink, [attendee(ada)]);
    const contact = org.convert(org.record('Lead'));
    const [outcome] = await deliver(sink, [attendee({ ...ada, Name: 'King' }, { object: objectOf(before) })]);
    expect(contact.values).toMatchObject({ LastName: 'King' });
    expect(objectOf(outcome).Lead).toMatchObject({ type: 'Contact', id: contact.id });
  });

  it('is found as the contact of a converted lead even if no match finds it', async () => {
    const sink = sinkWith({ match: ['contactEmail'] });
    const [before] = await deliver(sink, [attendee(ada)]);
    const contact = org.convert(org.record('Lead'));
    org.change(contact, { Email: 'office@example.com' });
    const [outcome] = await deliver(sink, [attendee({ ...ada, Name: 'King' }, { object: objectOf(before) })]);
    expect(objectOf(outcome).Lead).toMatchObject({ type: 'Contact', id: contact.id, created: true });
    expect(org.all('Lead')).toHaveLength(1);
  });

  it('keeps the value of a field that is written only if empty', async () => {
    org.add('Lead', { Email: 'ada@example.com', LastName: 'Countess', Company: 'ACME', Last_Event__c: 'Spring' });
    org.add('Lead', { Email: 'bob@example.com', LastName: 'Bob', Company: 'ACME' });
    const properties = { Email: 'item.Email', Last_Event__c: { value: '"Autumn"', write: 'if-empty' } };
    await deliver(sinkWith({ properties }), [attendee(ada), attendee(bob)]);
    expect(org.all('Lead').map(({ Last_Event__c }) => Last_Event__c)).toEqual(['Spring', 'Autumn']);
  });
});

describe('one record of a batch', () => {
  const long = 'L'.repeat(81);
  const unreadable = { status: 400, json: [{ errorCode: 'JSON_PARSER_ERROR', message: 'says ada@example.com' }] };

  it('is rejected with the code and the fields, but without the message of Salesforce', async () => {
    const outcomes = await deliver(sinkWith(), [attendee(ada), attendee({ ...bob, Name: long })]);
    expect(kinds(outcomes)).toEqual(['delivered', 'rejected']);
    expect(causeOf(outcomes[1])).toBe('salesforce:STRING_TOO_LONG:LastName');
    expect(outcomes[1]).toMatchObject({ detail: expect.stringContaining('TID:') });
    expect(JSON.stringify(outcomes)).not.toMatch(/example\.com|LLLL/);
  });

  it('is isolated by halving the batch if it makes Salesforce reject the whole request', async () => {
    const effect = { kind: 'answer', answer: unreadable } as const;
    org.double.faults.add({ method: 'PATCH', bodyHas: 'bob@', times: 100, effect });
    const people = [0, 1, 2, 3, 4].map((n) => attendee({ id: n, Name: `N${n}`, Email: `n${n}@example.com` }));
    const outcomes = await deliver(sinkWith(), [...people, attendee(bob)]);
    expect(kinds(outcomes)).toEqual([...people.map(() => 'delivered'), 'rejected']);
    expect(causeOf(outcomes[5])).toBe('salesforce:JSON_PARSER_ERROR');
    expect(org.all('Lead')).toHaveLength(5);
  });

  it('does not cost one request per record if every request is rejected as a whole, and the rest waits', async () => {
    org.double.faults.add({ method: 'PATCH', times: 1000, effect: { kind: 'answer', answer: unreadable } });
    const people = Array.from({ length: 200 }, (_, id) => attendee({ id, Name: 'N', Email: `n${id}@example.com` }));
    const outcomes = await deliver(sinkWith(), people);
    expect(org.writes('Lead').length).toBeLessThan(100);
    expect(new Set(kinds(outcomes))).toEqual(new Set(['rejected', 'retry']));
  });

  it('is retried while another transaction locks its row', async () => {
    org.double.org.recordFaults.add(lockedRow('Lead'));
    expect(kinds(await deliver(sinkWith(), [attendee(ada)]))).toEqual(['retry']);
  });

  it('does not affect another item about the same person', async () => {
    const lead = org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'ACME' });
    const outcomes = await deliver(sinkWith(), [attendee(ada), attendee({ ...ada, id: 9, Name: long })]);
    expect(kinds(outcomes)).toEqual(['delivered', 'rejected']);
    expect(lead.values).toMatchObject({ LastName: 'Lovelace' });
  });

  it('is rejected without a request if the mapping returns an invalid value for its field', async () => {
    const properties = { Email: 'item.Email', LastName: 'item.Name', Company: '"x"', Seats__c: 'item.seats' };
    const sink = sinkWith({ properties });
    const outcomes = await deliver(sink, [attendee({ ...ada, seats: 'many' }), attendee({ ...bob, seats: '3' })]);
    expect(outcomes.map(causeOf)).toEqual(['salesforce:wrong-type:Seats__c', '']);
    expect(org.all('Lead')).toMatchObject([{ Seats__c: 3 }]);
  });
});

describe('the session', () => {
  it('is renewed once when Salesforce ends it, and the request is repeated', async () => {
    const sink = sinkWith();
    await deliver(sink, [attendee(ada)]);
    org.double.org.sessions.endAll();
    expect(kinds(await deliver(sink, [attendee(bob)]))).toEqual(['delivered']);
    expect(org.logins).toBe(2);
  });

  it('starts once for lanes that need it at the same time', async () => {
    const sink = sinkWith();
    await Promise.all([deliver(sink, [attendee(ada)]), deliver(sink, [attendee(bob)])]);
    expect(org.logins).toBe(1);
  });

  it('pauses the sink if it is rejected immediately after the login', async () => {
    org.double.faults.add({ path: '/sobjects', times: 100, effect: salesforceFaults['sessionExpired']! });
    expect(await deliver(sinkWith(), [attendee(ada)])).toMatchObject([{ kind: 'pause', cause: 'credential' }]);
    expect(org.logins).toBe(2);
  });

  it('pauses the sink if the login is rejected, with advice what to check', async () => {
    const json = { error: 'invalid_grant', error_description: "user hasn't approved this consumer" };
    org.double.faults.add({ path: '/oauth2/token', effect: { kind: 'answer', answer: { status: 400, json } } });
    const [outcome] = await deliver(sinkWith(), [attendee(ada)]);
    expect(outcome).toMatchObject({
      kind: 'pause',
      cause: 'credential',
      detail: expect.stringContaining('pre-authorize'),
    });
  });
});

describe('the limit', () => {
  it('of daily requests makes all lanes wait without further requests', async () => {
    await org.close();
    org = await TestOrg.open({ dailyRequests: 0 });
    const sink = sinkWith();
    expect(await deliver(sink, [attendee(ada)])).toMatchObject([{ kind: 'retry', afterMs: 3_600_000 }]);
    const calls = org.calls().length;
    expect(kinds(await deliver(sink, [attendee(bob)]))).toEqual(['retry']);
    expect(org.calls()).toHaveLength(calls);
  });

  it('in the configuration applies to all requests to the org', async () => {
    const [outcome] = await deliver(sinkWith({}, { limits: { perDay: 2 } }), [attendee(ada)]);
    expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('limits.perDay') });
    expect(org.all('Lead')).toEqual([]);
  });
});

describe('a campaign', () => {
  const campaign = { campaign: campaignKeys };

  it('is created once for its pigeonhole, with the person as a member', async () => {
    const sink = sinkWith(campaign);
    const lane = laneOf();
    await deliver(sink, [attendee(ada), attendee({ ...bob, signInTime: '2026-11-21T09:00:00Z' })], lane);
    await deliver(sinkWith(campaign), [attendee({ id: 9, Name: 'Eve', Email: 'eve@example.com' })], lane);
    expect(org.all('Campaign')).toMatchObject([{ Event_Id__c: '101', Name: 'ACME Summit' }]);
    expect(org.all('CampaignMember').map(({ Status }) => Status)).toEqual(['Sent', 'Responded', 'Sent']);
    expect(org.writes('Campaign')).toHaveLength(1);
  });

  it('changes its member from registered to attended, but never back', async () => {
    const sink = sinkWith(campaign);
    const [registered] = await deliver(sink, [attendee(ada)]);
    const [attended] = await deliver(sink, [
      attendee({ ...ada, signInTime: '2026-11-21T09:00:00Z' }, { object: objectOf(registered) }),
    ]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Responded' }]);
    const [again] = await deliver(sink, [attendee(ada, { object: objectOf(attended) })]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Responded' }]);
    expect(objectOf(again).Lead).toMatchObject({ member: { status: 'Responded', created: true } });
  });

  it('keeps the status that a user has set since', async () => {
    const sink = sinkWith(campaign);
    const [before] = await deliver(sink, [attendee(ada)]);
    const CampaignId = org.record('Campaign').id;
    org.add('CampaignMemberStatus', { CampaignId, Label: 'Invited again' });
    org.change(org.record('CampaignMember'), { Status: 'Invited again' });
    await deliver(sink, [attendee({ ...ada, Name: 'King' }, { object: objectOf(before) })]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Invited again' }]);
  });

  it('has one membership for a person with two items', async () => {
    await deliver(sinkWith(campaign), [
      attendee({ ...ada, signInTime: '2026-11-21T09:00:00Z' }),
      attendee({ ...ada, id: 9 }),
    ]);
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Responded' }]);
  });

  it('gets a missing status if the user may add it', async () => {
    const status = { registered: 'Sent', attended: 'Was there' };
    await deliver(sinkWith({ campaign: { ...campaignKeys, status } }), [
      attendee({ ...ada, signInTime: '2026-11-21T09:00:00Z' }),
    ]);
    expect(org.all('CampaignMemberStatus')).toContainEqual(
      expect.objectContaining({ Label: 'Was there', HasResponded: true }),
    );
    expect(org.all('CampaignMember')).toMatchObject([{ Status: 'Was there' }]);
  });

  it('gets missing statuses after the last one, whatever its number is', async () => {
    const sink = sinkWith(campaign);
    await deliver(sink, [attendee(ada)]);
    const CampaignId = org.record('Campaign').id;
    org.add('CampaignMemberStatus', { CampaignId, Label: 'Invited', SortOrder: 7 });
    const status = { registered: 'Registered', attended: 'Was there' };
    const other = sinkWith({ campaign: { ...campaignKeys, status } });
    expect(kinds(await deliver(other, [attendee(bob)]))).toEqual(['delivered']);
    expect(org.all('CampaignMemberStatus').map(({ Label, SortOrder }) => [Label, SortOrder])).toEqual([
      ['Sent', 3],
      ['Responded', 4],
      ['Invited', 7],
      ['Registered', 8],
      ['Was there', 9],
    ]);
  });

  it('without a status that Salesforce refuses to add names the code of the refusal', async () => {
    await org.close();
    const fails = ({ Label }: Fields): boolean => Label === 'Was there';
    const rule = { object: 'CampaignMemberStatus', message: 'is reserved', fails };
    org = await TestOrg.open({ validationRules: [rule] });
    const status = { registered: 'Sent', attended: 'Was there' };
    const [outcome] = await deliver(sinkWith({ campaign: { ...campaignKeys, status } }), [attendee(bob)]);
    expect(outcome).toMatchObject({
      cause: 'salesforce:campaign-status-missing',
      detail: expect.stringContaining('Salesforce refused to add it (FIELD_CUSTOM_VALIDATION_EXCEPTION)'),
    });
  });

  it('without a status that the user may not add receives no member, and the record is kept', async () => {
    org.double.org.permissions.CampaignMemberStatus = { createable: false };
    const status = { registered: 'Sent', attended: 'Was there' };
    const [outcome] = await deliver(sinkWith({ campaign: { ...campaignKeys, status } }), [attendee(ada)]);
    expect(causeOf(outcome)).toBe('salesforce:campaign-status-missing');
    expect(objectOf(outcome).Lead).toMatchObject({ id: org.record('Lead').id });
    expect(org.all('CampaignMember')).toEqual([]);
  });

  it('is created again if it was deleted', async () => {
    const lane = laneOf();
    await deliver(sinkWith(campaign), [attendee(ada)], lane);
    org.clear('Campaign');
    expect(kinds(await deliver(sinkWith(campaign), [attendee(bob)], lane))).toEqual(['delivered']);
    expect(org.all('Campaign')).toHaveLength(1);
  });
});
