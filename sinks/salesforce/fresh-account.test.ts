import { Secret } from '../../config/secret.js';
import { USER_ID } from '../../sandbox/salesforce/org.js';
import { leadsToQueue } from '../../sandbox/salesforce/record-rules.js';
import type { SalesforceOptions } from '../../sandbox/salesforce/salesforce-org.js';
import type { Fields, Outcome } from '../sink.js';
import { TestOrg } from './org.test-kit.js';
import { attendee, campaignKeys, deliver, gone } from './sample.test-kit.js';

/** A new org with duplicate rules, an assignment rule, and people whom users work with. */
let org: TestOrg;
const open = async (options: SalesforceOptions = {}): Promise<void> => {
  org = await TestOrg.open(options);
};
afterEach(() => org.close());

const sinkWith = (record: object = {}, keys: object = {}) => org.sink(record, keys);

const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
const objectOf = (outcome: Outcome | undefined): Fields => outcome!.object!;
const ada = { id: 7, Name: 'Lovelace', Email: 'ada@example.com' };
const sales = '0058d0000000077AAA';

describe('the owner of a lead', () => {
  beforeEach(() => open());

  it('does not change if the lead is changed, found by e-mail, added to a campaign or cleared', async () => {
    const known = org.add('Lead', { Email: 'ada@example.com', LastName: 'L.', Company: 'ACME', OwnerId: sales });
    const sink = sinkWith({ campaign: campaignKeys });
    const [first] = await deliver(sink, [attendee(ada)]);
    const [second] = await deliver(sink, [attendee({ ...ada, Name: 'King' }, { object: objectOf(first) })]);
    await deliver(sink, [gone(7, 'consent-withdrawn', objectOf(second))]);
    expect(known.values.OwnerId).toBe(sales);
    expect(org.writes('Lead').length).toBeGreaterThan(2);
  });

  it('is set by the active assignment rule for a new lead, and does not change afterwards', async () => {
    const sink = sinkWith();
    const [first] = await deliver(sink, [attendee(ada)]);
    const lead = org.record('Lead');
    expect(lead.values.OwnerId).toBe(leadsToQueue.ownerId);
    org.change(lead, { OwnerId: sales });
    await deliver(sink, [attendee({ ...ada, Name: 'King' }, { object: objectOf(first) })]);
    await deliver(sink, [attendee({ ...ada, Name: 'Byron' })]); // as after the loss of the ledger
    expect(lead.values).toMatchObject({ OwnerId: sales, LastName: 'Byron' });
  });

  it('does not change if `match` omits the external id, nor do values that are written only if empty', async () => {
    const properties = { Email: 'item.Email', LastName: { value: 'item.Name', write: 'if-empty' }, Company: '"x"' };
    const record = { match: ['contactEmail', 'leadEmail'], properties };
    org.add('Lead', { Engagement_Id__c: '7', LastName: 'L.', Company: 'ACME', OwnerId: sales });
    expect(kinds(await deliver(sinkWith(record), [attendee(ada)]))).toEqual(['delivered']);
    expect(org.all('Lead')).toEqual([expect.objectContaining({ OwnerId: sales, LastName: 'L.', Email: ada.Email })]);
  });

  it.each([
    ['none', USER_ID],
    ['01Q8d0000000002EAA', '00G8d0000000002EAA'],
  ])('follows "assignmentRule: %s"', async (assignmentRule, owner) => {
    await org.close();
    const rules = [leadsToQueue, { id: '01Q8d0000000002EAA', active: false, ownerId: '00G8d0000000002EAA' }];
    await open({ assignmentRules: rules });
    await deliver(sinkWith({}, { assignmentRule }), [attendee(ada)]);
    expect(org.record('Lead').values.OwnerId).toBe(owner);
  });

  it('is set only when a lead is created, because no other request runs a rule', async () => {
    await deliver(sinkWith({ campaign: campaignKeys }), [attendee(ada)]);
    const headers = org
      .calls()
      .filter(({ method }) => method !== 'GET')
      .map(({ path, headers: { 'sforce-auto-assign': assign } }) => `${path.split('/').at(-1)} ${assign}`);
    expect(headers).toEqual(['Engagement_Id__c TRUE', 'Event_Id__c FALSE', 'sobjects FALSE']);
    expect(org.calls().some(({ method, headers: { 'sforce-auto-assign': a } }) => method === 'GET' && a)).toBe(false);
  });
});

describe('a duplicate rule with an alert', () => {
  const twin = { FirstName: 'Ada', LastName: 'Lovelace', Title: 'Countess', Company: 'ACME' };
  const record = {
    properties: { Email: 'item.Email', FirstName: '"Ada"', LastName: 'item.Name', Title: '"Countess"', Company: '"x"' },
  };
  beforeEach(async () => {
    await open();
    org.add('Lead', { ...twin, Email: 'countess@example.com' });
  });

  it('rejects a new person, and the message names the remedy', async () => {
    const [outcome] = await deliver(sinkWith(record), [attendee(ada)]);
    expect(outcome).toMatchObject({
      kind: 'rejected',
      cause: 'salesforce:DUPLICATES_DETECTED',
      detail: expect.stringContaining('"duplicateAlerts: save"'),
    });
    expect(org.all('Lead')).toHaveLength(1);
    expect(org.calls().some(({ headers }) => 'sforce-duplicate-rule-header' in headers)).toBe(false);
  });

  it('is ignored with "duplicateAlerts: save"', async () => {
    expect(kinds(await deliver(sinkWith(record, { duplicateAlerts: 'save' }), [attendee(ada)]))).toEqual(['delivered']);
    expect(org.all('Lead')).toHaveLength(2);
  });

  it('does not prevent a change of a person who was found', async () => {
    const known = org.add('Contact', { LastName: 'L.', Email: 'ada@example.com' });
    expect(kinds(await deliver(sinkWith(record), [attendee(ada)]))).toEqual(['delivered']);
    expect(known.values).toMatchObject({ LastName: 'Lovelace' });
  });
});

describe('several records with one e-mail address', () => {
  const email = { Email: 'ada@example.com' };
  beforeEach(async () => {
    let nowMs = Date.now();
    await open({ now: () => (nowMs += 5) });
    for (const LastName of ['First', 'Second', 'Third']) org.add('Contact', { ...email, LastName });
    org.change(org.record('Contact', 1), { Title: 'changed last' });
  });

  it.each([
    ['newest', ['First', 'Second', 'Lovelace']],
    ['oldest', ['Lovelace', 'Second', 'Third']],
    ['park', ['First', 'Second', 'Third']],
  ])('are resolved by "onSeveral: %s"', async (onSeveral, names) => {
    const [outcome] = await deliver(sinkWith({ onSeveral }), [attendee(ada)]);
    expect(org.all('Contact').map(({ LastName }) => LastName)).toEqual(names);
    expect(org.all('Lead')).toEqual([]);
    expect(outcome).toMatchObject(
      onSeveral === 'park'
        ? { cause: 'salesforce:ambiguous-match:Contact.Email', detail: expect.stringContaining('"onSeveral"') }
        : { kind: 'delivered' },
    );
  });

  it('that were converted leads lead to the contact of the selected lead', async () => {
    org.clear('Contact');
    const contacts = ['First', 'Second'].map((LastName) => {
      const contact = org.convert(org.add('Lead', { ...email, LastName, Company: 'ACME' }));
      org.change(contact, { Email: null });
      return contact;
    });
    await deliver(sinkWith({ onSeveral: 'newest' }), [attendee(ada)]);
    expect(contacts.map(({ values }) => values.LastName)).toEqual(['First', 'Lovelace']);
  });
});

describe('a user without access to campaigns', () => {
  beforeEach(() => open({ withheldObjects: ['Campaign', 'CampaignMember', 'CampaignMemberStatus'] }));

  it('is reported by the check next to other problems', async () => {
    const sink = sinkWith({ campaign: campaignKeys, properties: { Email: 'item.Email', LastName: '"x"' } });
    const wrong = (await sink.check(new AbortController().signal)).filter(({ ok }) => !ok).map(({ text }) => text);
    expect(wrong).toEqual([
      expect.stringContaining('Lead requires Company'),
      expect.stringMatching(/the user has no access to Campaign \(HTTP 404 NOT_FOUND.*Marketing User/),
    ]);
  });

  it('pauses the sink until access is granted, and the member is added then', async () => {
    const sink = sinkWith({ campaign: campaignKeys });
    const [paused] = await deliver(sink, [attendee(ada)]);
    expect(paused).toMatchObject({ kind: 'pause', cause: 'credential', detail: expect.stringContaining('Campaign') });
    org.double.org.withheldObjects.clear();
    expect(kinds(await deliver(sink, [attendee(ada, { object: objectOf(paused) })]))).toEqual(['delivered']);
    expect([org.all('Lead').length, org.all('CampaignMember').length]).toEqual([1, 1]);
  });
});

describe('a login', () => {
  const appKeys = { username: undefined, privateKey: undefined, loginUrl: 'https://acme.my.salesforce.com' };

  it('with the secret of the app needs no user or certificate', async () => {
    await open();
    const sink = sinkWith({}, { ...appKeys, clientSecret: new Secret('salesforce-secret') });
    expect(kinds(await deliver(sink, [attendee(ada)]))).toEqual(['delivered']);
    const { body, headers } = org.double.requests.find(({ path }) => path.endsWith('/oauth2/token'))!;
    expect([...new URLSearchParams(body).keys()].toSorted()).toEqual(['client_id', 'client_secret', 'grant_type']);
    expect(headers).not.toHaveProperty('authorization');
  });

  it('with a wrong secret pauses the sink, and the message names the key', async () => {
    await open();
    const sink = sinkWith({}, { ...appKeys, clientSecret: new Secret('other-secret') });
    const [outcome] = await deliver(sink, [attendee(ada)]);
    expect(outcome).toMatchObject({ kind: 'pause', detail: expect.stringContaining('compare "clientSecret"') });
    expect(JSON.stringify(outcome)).not.toContain('other-secret');
  });

  const audiences = (): unknown[] =>
    org.double.requests
      .filter(({ path }) => path.endsWith('/oauth2/token'))
      .map(({ body }) => new URLSearchParams(body).get('assertion')!.split('.')[1]!)
      .map((claims) => JSON.parse(Buffer.from(claims, 'base64url').toString()).aud);

  it('by an external client app is refused at the login host, and the message names the remedy', async () => {
    await open();
    const [outcome] = await deliver(sinkWith({}, { loginUrl: 'https://login.salesforce.com' }), [attendee(ada)]);
    expect(outcome).toMatchObject({
      kind: 'pause',
      cause: 'credential',
      detail: expect.stringMatching(/app_not_found.*set "loginUrl" to the My Domain of the org/),
    });
  });

  it('by an external client app succeeds with the My Domain of the org as the audience', async () => {
    await open();
    expect(kinds(await deliver(sinkWith({}, { loginUrl: org.url }), [attendee(ada)]))).toEqual(['delivered']);
    expect(audiences()).toEqual([org.url]);
    await org.close();
    const loginUrl = 'https://acme.my.salesforce.com';
    await open({ instanceUrl: loginUrl });
    expect(kinds(await deliver(sinkWith({}, { loginUrl }), [attendee(ada)]))).toEqual(['delivered']);
    expect(audiences()).toEqual([loginUrl]);
  });

  it('by a connected app succeeds at the login host, and at the My Domain with the login host as the audience', async () => {
    await open({ app: 'connected' });
    const [host, loginUrl] = ['https://login.salesforce.com', 'https://acme.my.salesforce.com'];
    expect(kinds(await deliver(sinkWith({}, { loginUrl: host }), [attendee(ada)]))).toEqual(['delivered']);
    expect(audiences()).toEqual([host]);
    const sink = sinkWith({}, { loginUrl });
    expect(kinds(await deliver(sink, [attendee(ada)]))).toEqual(['delivered']);
    org.double.org.sessions.endAll();
    expect(kinds(await deliver(sink, [attendee(ada)]))).toEqual(['delivered']);
    expect(audiences()).toEqual([host, loginUrl, host, host]); // the audience that was accepted is tried first
  });

  it.each(['external', 'connected'] as const)(
    'by an app of the kind "%s" reports what the operator can change, and not the audience that failed',
    async (app) => {
      const loginUrl = 'https://acme.my.salesforce.com';
      await open({ app, instanceUrl: loginUrl });
      const [outcome] = await deliver(sinkWith({}, { loginUrl, username: 'other@example.com' }), [attendee(ada)]);
      expect(outcome).toMatchObject({ kind: 'pause', detail: expect.stringContaining('pre-authorize') });
    },
  );

  it.each([
    ['https://test.salesforce.com', 'delivered'],
    ['https://velocity-page-1863.scratch.my.salesforce.com', 'delivered'],
    ['https://acme--uat.sandbox.my.salesforce.com', 'delivered'],
    ['https://login.salesforce.com', 'pause'],
  ])('to a sandbox at %s has the result %s', async (loginUrl, kind) => {
    await open({ app: 'connected', sandbox: true });
    const [outcome] = await deliver(sinkWith({}, { loginUrl }), [attendee(ada)]);
    expect(outcome).toMatchObject(
      kind === 'pause' ? { kind, detail: expect.stringContaining('https://test.salesforce.com') } : { kind },
    );
  });
});
