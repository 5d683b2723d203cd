import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import { attendee, Desk, type DeskOptions, question } from './desk.test-kit.js';

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: 'item.Name' },
};
const registration = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: 'item.signInTime ? "attend" : "register"',
  email: 'item.Email',
  contactProperties: { firstname: 'item.Name' },
};
const notes = {
  from: 'qna-questions',
  object: 'notes',
  email: 'attendee.Email',
  properties: { hs_note_body: 'item.content' },
  contactProperties: { firstname: '"Guest"' },
};

let desk: Desk;
afterEach(async () => desk.close());

async function open(records: readonly object[], options: DeskOptions = {}): Promise<void> {
  desk = await Desk.open(records, options);
}

const ada = { Email: 'ada@example.com', Name: 'Ada' };
const valuesOf = (name: string) => desk.contacts.map(({ values }) => values.get(name));

describe('a service key', () => {
  const linesOf = async () => await desk.sink.check(new AbortController().signal);

  it('that may not read the details of the account is checked all the same', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, nosuch: 'item.x' } }]);
    const lines = await linesOf();
    expect(desk.hubspot.requests.find(({ path }) => path.includes('account-info'))?.status).toBe(403);
    expect(lines[0]).toEqual({ ok: true, text: expect.stringMatching(/ accepts the token$/) as string });
    expect(lines).toContainEqual({
      ok: true,
      text: 'HubSpot does not say which scopes the key has. These records need: crm.objects.contacts.read, crm.objects.contacts.write, crm.schemas.contacts.read',
    });
    expect(lines.filter(({ ok }) => !ok).map(({ text }) => text)).toEqual([
      expect.stringContaining('contacts have no such property'),
    ]);
  });

  it('warns if names of contacts that are found by e-mail would be replaced', async () => {
    const named = { email: 'item.Email', firstname: 'item.Name', lastname: { value: 'item.Name', write: 'if-empty' } };
    await open([{ ...contacts, properties: named }]);
    expect((await linesOf()).filter(({ text }) => text.includes('"always"'))).toEqual([
      { ok: true, text: expect.stringMatching(/records\[0\]\.properties\.firstname: "always" replaces the name/) },
    ]);
  });

  it('that lacks the scope of an object gets a finding from the check', async () => {
    await open([contacts], { tokens: { 'hubspot-token': ['crm.objects.marketing_events.read'] } });
    expect((await linesOf()).filter(({ ok }) => !ok).map(({ text }) => text)).toEqual([
      expect.stringMatching(/the key lacks the scope crm\.schemas\.contacts\.read, crm\.objects\.contacts\.read/),
    ]);
  });

  it('delivers without the account details, which are requested once', async () => {
    await open([contacts]);
    for (const key of [1, 2, 3]) await desk.deliver([attendee(key, { ...ada, Email: `p${key}@example.com` })]);
    expect(desk.contacts).toHaveLength(3);
    expect(desk.paths().filter((path) => path.includes('account-info'))).toHaveLength(1);
  });
});

describe('version 2026-09', () => {
  it('is the default of every call, and no call uses a version that ends in 2027', async () => {
    await open([contacts, registration, notes]);
    await desk.deliver([attendee(1, ada), question(9001)]);
    await desk.deliver([question(9001)], 'recover');
    await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' }), question(9001, { content: 'Where?' })]);
    expect(desk.paths().length).toBeGreaterThan(8);
    expect(desk.paths().filter((path) => !path.includes('/2026-09/'))).toEqual([]);
    expect(desk.hubspot.requests.filter(({ status = 0 }) => status >= 400 && status !== 403)).toEqual([]);
  });

  it('creates a contact with what the account requires, and the check names what the mapping lacks', async () => {
    await open([contacts, { ...contacts, from: 'registrants', properties: { email: 'item.Email' } }]);
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([{ kind: 'delivered' }]);
    const failing = (await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([
      'crm.records[1].properties: HubSpot requires firstname of new contacts, and the mapping does not give it: add it',
    ]);
  });

  it.each([
    ['item.Name', 'an item without a value'],
    ['$firstName(item.Name)', 'a field of one word, such as the name "Ada"'],
    ['$firstName($field("Name", "Full name"))', 'a field of one word, such as the name "Ada"'],
    ['$firstName(item.Name) ?: item.Name', 'an item without a value'],
    ['$firstName(item.Name) ?: "unknown"', null],
    ['"Guest"', null],
  ])('has its check say when the required value of %s is empty', async (firstname, when) => {
    await open([{ ...contacts, properties: { email: 'item.Email', firstname } }]);
    const { ok, failing } = await desk.check();
    expect(failing).toEqual([]);
    expect(ok.filter((text) => text.includes('dead letter'))).toEqual(
      when === null
        ? []
        : [
            `warning: crm.records[0].properties.firstname: HubSpot requires firstname of new contacts, but the mapping returns nothing for ${when}. Such a record becomes a dead letter: see "Required properties" in docs/sinks/hubspot.md`,
          ],
    );
  });

  it('refuses a contact without a required value as a dead letter that names it, and takes the others', async () => {
    await open([contacts]);
    const outcomes = await desk.deliver([attendee(1, ada), attendee(2, { Email: 'bob@example.com' })]);
    expect(outcomes).toMatchObject([
      { kind: 'delivered' },
      {
        kind: 'rejected',
        cause: 'hubspot:MISSING_REQUIRED_PROPERTY:firstname',
        detail: expect.stringContaining(
          'The account requires it when a record is created: map a value for it',
        ) as string,
      },
    ]);
    expect(valuesOf('email')).toEqual(['ada@example.com']);
  });

  it('refuses what a conditional rule of the account misses, also in an update', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, lifecyclestage: 'item.Stage' } }]);
    await desk.deliver([attendee(1, { ...ada, Stage: 'lead' })]);
    expect(await desk.deliver([attendee(1, { ...ada, Stage: 'salesqualifiedlead' })])).toMatchObject([
      { kind: 'rejected', cause: 'hubspot:MISSING_CONDITIONAL_REQUIRED_PROPERTY:hs_lead_status' },
    ]);
    expect(valuesOf('lifecyclestage')).toEqual(['lead']);
  });

  it('does not require of existing contacts what it requires of new ones', async () => {
    await open([{ ...contacts, properties: { email: 'item.Email', city: 'item.City' } }]);
    desk.createContact({ email: 'ada@example.com' });
    expect(await desk.deliver([attendee(1, { ...ada, City: 'London' })])).toMatchObject([{ kind: 'delivered' }]);
    expect(valuesOf('city')).toEqual(['London']);
  });

  it.each([
    ['a note', notes, () => question(9001)],
    [
      'a registration',
      { ...registration, contactProperties: { firstname: '"Guest"' } },
      () => attendee(1, { Email: 'ada@example.com' }),
    ],
  ])('creates the contact of %s with contactProperties', async (_, record, subject) => {
    await open([record]);
    expect(await desk.deliver([subject()])).toMatchObject([{ kind: 'delivered' }]);
    expect(valuesOf('firstname')).toEqual(['Guest']);
    const { contactProperties: _none, ...without } = record;
    const other = desk.another([without]);
    const failing = (await other.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([
      'crm.records[0].contactProperties: HubSpot requires firstname of new contacts, and the mapping does not give it: add it',
    ]);
    await other.sink.close();
  });

  it('keeps what a contact has that exists, whatever contactProperties give', async () => {
    await open([registration, notes]);
    desk.createContact({ email: 'ada@example.com', firstname: 'Countess' });
    await desk.deliver([attendee(1, ada), question(9001)]);
    expect(valuesOf('firstname')).toEqual(['Countess']);
  });
});

describe('a 404 of a whole call', () => {
  const notFound = (path: string) =>
    desk.hubspot.faults.add({
      path,
      times: 99,
      effect: { kind: 'answer', answer: { status: 404, json: { category: 'OBJECT_NOT_FOUND' } } },
    });

  it.each([
    ['clear-our-fields', 'contacts/batch/read'],
    ['clear-our-fields', 'contacts/batch/update'],
    ['delete', 'contacts/batch/archive'],
  ] as const)('does not carry out a withdrawal of consent: %s by %s', async (onForget, path) => {
    await open([contacts], { environment: { onForget } });
    await desk.deliver([attendee(1, ada)]);
    const withdrawn = attendee(1, null, { removal: 'consent-withdrawn' });
    notFound(path);
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'unsent', detail: expect.stringContaining('404') }]);
    expect(desk.objectOf(withdrawn)).not.toBeNull();
    desk.hubspot.faults.clear();
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'delivered', object: null }]);
    expect(valuesOf('firstname')).toEqual(onForget === 'delete' ? [] : [undefined]);
  });
});

describe('static lists', () => {
  const listed = { ...contacts, when: 'item.Email != ""', lists: ['1203', 'item.vip ? 1204'] };
  const members = (listId: string) => desk.account.lists.find(listId)!.members.size;
  const lists = [{ listId: '1203' }, { listId: '1204' }, { listId: '1205', dynamic: true }];

  it('gain a contact that is written, and lose it when the mapping no longer gives them', async () => {
    await open([listed], { lists });
    await desk.deliver([attendee(1, { ...ada, vip: true })]);
    expect([members('1203'), members('1204')]).toEqual([1, 1]);
    await desk.deliver([attendee(1, ada)]);
    expect([members('1203'), members('1204')]).toEqual([1, 0]);
    const before = desk.hubspot.requests.length;
    await desk.deliver([attendee(1, ada)]);
    expect(
      desk
        .paths()
        .slice(before)
        .filter((path) => path.includes('/lists/')),
    ).toEqual([]);
  });

  it.each([
    ['is deleted at the source', 'deleted' as const, 'Ada'],
    ['withdraws consent', 'consent-withdrawn' as const, undefined],
  ])('lose the contact of a person who %s', async (_, removal, firstname) => {
    await open([listed], { lists });
    await desk.deliver([attendee(1, ada)]);
    expect(await desk.deliver([attendee(1, null, { removal })])).toMatchObject([{ kind: 'delivered' }]);
    expect(members('1203')).toBe(0);
    expect(valuesOf('firstname')).toEqual([firstname]);
  });

  it('that HubSpot fills itself, or that do not exist, are named by the check', async () => {
    await open([{ ...contacts, lists: ['1205', '"1299"'] }], { lists });
    const failing = (await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([
      'crm.records[0].lists[0]: HubSpot fills list 1205 by its own filters: name a static list',
      expect.stringMatching(/^crm\.records\[0\]\.lists\[1\]: .*list 1299.*404/),
    ]);
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([
      { kind: 'rejected', cause: expect.stringMatching(/^hubspot:list:/) as string },
    ]);
    expect(valuesOf('email')).toEqual(['ada@example.com']);
  });
});

describe('legal basis and marketing status', () => {
  const legal = '"Performance of a contract;Freely given consent from contact"';

  it('are mapped as properties; the check accepts several bases', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, hs_legal_basis: legal } }]);
    expect((await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
    await desk.deliver([attendee(1, ada)]);
    expect(valuesOf('hs_legal_basis')).toEqual(['Performance of a contract;Freely given consent from contact']);
  });

  it('explains where to set the marketing status, which no API can write', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, hs_marketable_status: 'true' } }]);
    const failing = (await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([expect.stringContaining('Integrations > Marketing contacts')]);
  });
});

describe('an object that the key may not write', () => {
  const scopes = ALL_SCOPES.filter((scope) => !scope.includes('marketing_events'));

  it('holds back its own entry: contacts are written once, and everything follows when the scope is granted', async () => {
    await open([contacts, registration], { tokens: { 'hubspot-token': scopes } });
    const held = { kind: 'unsent', afterMs: 600_000, detail: expect.stringContaining('crm.objects.marketing_events') };
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([held]);
    expect(valuesOf('firstname')).toEqual(['Ada']);
    // A colleague corrects the name; the next attempt, ten minutes later, must leave it.
    desk.account.portal.update(desk.contacts[0]!, { firstname: 'Countess' });
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([held]);
    desk.account.tokens.set('hubspot-token', ALL_SCOPES);
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([{ kind: 'delivered' }]);
    expect(valuesOf('firstname')).toEqual(['Countess']);
    expect(desk.participations).toEqual(['REGISTERED']);
    await desk.deliver([attendee(1, { ...ada, Name: 'Ada L.' })]);
    expect(valuesOf('firstname')).toEqual(['Ada L.']);
  });

  it('never makes a removal look carried out', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.tokens.set('hubspot-token', scopes);
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { kind: 'unsent' },
    ]);
    desk.account.tokens.set('hubspot-token', ALL_SCOPES);
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { kind: 'delivered', object: { 'marketing-event': { attendance: 'cancel' } } },
    ]);
    expect(desk.participations).toEqual(['CANCELLED']);
  });
});
