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

  it('that may not read the account details can still be checked', async () => {
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

  it('causes a warning if the mapping would replace names of contacts found by e-mail', async () => {
    const named = { email: 'item.Email', firstname: 'item.Name', lastname: { value: 'item.Name', write: 'if-empty' } };
    await open([{ ...contacts, properties: named }]);
    expect((await linesOf()).filter(({ text }) => text.includes('"always"'))).toEqual([
      {
        ok: true,
        warning: true,
        text: expect.stringMatching(/records\[0\]\.properties\.firstname: "always" replaces the name/),
      },
    ]);
  });

  it('that lacks the scope of an object fails the check', async () => {
    await open([contacts], { tokens: { 'hubspot-token': ['crm.objects.marketing_events.read'] } });
    expect((await linesOf()).filter(({ ok }) => !ok).map(({ text }) => text)).toEqual([
      expect.stringMatching(/the key lacks the scope crm\.schemas\.contacts\.read, crm\.objects\.contacts\.read/),
    ]);
  });

  it('delivers without the account details, which it requests once', async () => {
    await open([contacts]);
    for (const key of [1, 2, 3]) await desk.deliver([attendee(key, { ...ada, Email: `p${key}@example.com` })]);
    expect(desk.contacts).toHaveLength(3);
    expect(desk.paths().filter((path) => path.includes('account-info'))).toHaveLength(1);
  });
});

describe('version 2026-09', () => {
  it('is used in every call, and no call uses a version that ends in 2027', async () => {
    await open([contacts, registration, notes]);
    await desk.deliver([attendee(1, ada), question(9001)]);
    await desk.deliver([question(9001)], 'recover');
    await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' }), question(9001, { content: 'Where?' })]);
    expect(desk.paths().length).toBeGreaterThan(8);
    expect(desk.paths().filter((path) => !path.includes('/2026-09/'))).toEqual([]);
    expect(desk.hubspot.requests.filter(({ status = 0 }) => status >= 400 && status !== 403)).toEqual([]);
  });

  it('creates a contact with the properties that the account requires, and the check names those that the mapping lacks', async () => {
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
  ])('causes a warning in the check only if %s can return nothing for a required property', async (firstname, when) => {
    await open([{ ...contacts, properties: { email: 'item.Email', firstname } }]);
    const { ok, failing } = await desk.check();
    expect(failing).toEqual([]);
    expect(ok.filter((text) => text.includes('dead letter'))).toEqual(
      when === null
        ? []
        : [
            `crm.records[0].properties.firstname: HubSpot requires firstname of new contacts, but the mapping returns nothing for ${when}. Such a record becomes a dead letter: see "Required properties" in docs/sinks/hubspot.md`,
          ],
    );
  });

  it('makes a contact without a required value a dead letter that names the property, and writes the others', async () => {
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

  it('rejects a value that breaks a conditional rule of the account, even in an update', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, lifecyclestage: 'item.Stage' } }]);
    await desk.deliver([attendee(1, { ...ada, Stage: 'lead' })]);
    expect(await desk.deliver([attendee(1, { ...ada, Stage: 'salesqualifiedlead' })])).toMatchObject([
      { kind: 'rejected', cause: 'hubspot:MISSING_CONDITIONAL_REQUIRED_PROPERTY:hs_lead_status' },
    ]);
    expect(valuesOf('lifecyclestage')).toEqual(['lead']);
  });

  it('requires less of existing contacts than of new ones', async () => {
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

  it('leaves existing values of a contact unchanged, whatever contactProperties contains', async () => {
    await open([registration, notes]);
    desk.createContact({ email: 'ada@example.com', firstname: 'Countess' });
    await desk.deliver([attendee(1, ada), question(9001)]);
    expect(valuesOf('firstname')).toEqual(['Countess']);
  });
});

describe('a 404 for a whole request', () => {
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
  ] as const)('does not count as a withdrawal of consent: %s with %s', async (onForget, path) => {
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

describe('a static list', () => {
  const listed = { ...contacts, when: 'item.Email != ""', lists: ['1203', 'item.vip ? 1204'] };
  const members = (listId: string) => desk.account.lists.get(listId)!.members.size;
  const lists = [{ listId: '1203' }, { listId: '1204' }, { listId: '1205', dynamic: true }];

  it('receives a written contact, and loses it if the mapping no longer names the list', async () => {
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
    ['is deleted in the service', 'deleted' as const, 'Ada'],
    ['withdraws consent', 'consent-withdrawn' as const, undefined],
  ])('loses the contact of a person who %s', async (_, removal, firstname) => {
    await open([listed], { lists });
    await desk.deliver([attendee(1, ada)]);
    expect(await desk.deliver([attendee(1, null, { removal })])).toMatchObject([{ kind: 'delivered' }]);
    expect(members('1203')).toBe(0);
    expect(valuesOf('firstname')).toEqual([firstname]);
  });

  it('is reported by the check if HubSpot fills it or if it does not exist', async () => {
    await open([{ ...contacts, lists: ['1205', '"1299"'] }], { lists });
    const failing = (await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([
      'crm.records[0].lists[0]: list 1205 is a dynamic list, which HubSpot fills itself: use a static list',
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

  it('can be mapped as properties, and the check accepts several bases', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, hs_legal_basis: legal } }]);
    expect((await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
    await desk.deliver([attendee(1, ada)]);
    expect(valuesOf('hs_legal_basis')).toEqual(['Performance of a contract;Freely given consent from contact']);
  });

  it('cannot be written by the API, and the check explains where to set the status', async () => {
    await open([{ ...contacts, properties: { ...contacts.properties, hs_marketable_status: 'true' } }]);
    const failing = (await desk.sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(failing.map(({ text }) => text)).toEqual([expect.stringContaining('Integrations > Marketing contacts')]);
  });
});

describe('a record that the key may not write', () => {
  const scopes = ALL_SCOPES.filter((scope) => !scope.includes('marketing_events'));

  it('holds back only itself: contacts are written once, and the rest follows when the scope is granted', async () => {
    await open([contacts, registration], { tokens: { 'hubspot-token': scopes } });
    const held = { kind: 'unsent', afterMs: 600_000, detail: expect.stringContaining('crm.objects.marketing_events') };
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([held]);
    expect(valuesOf('firstname')).toEqual(['Ada']);
    // A colleague corrects the name. The next attempt must keep the correction.
    desk.account.portal.update(desk.contacts[0]!, { firstname: 'Countess' });
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([held]);
    desk.account.tokens.set('hubspot-token', ALL_SCOPES);
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([{ kind: 'delivered' }]);
    expect(valuesOf('firstname')).toEqual(['Countess']);
    expect(desk.participations).toEqual(['REGISTERED']);
    await desk.deliver([attendee(1, { ...ada, Name: 'Ada L.' })]);
    expect(valuesOf('firstname')).toEqual(['Ada L.']);
  });

  it('does not make a removal look complete', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.tokens.set('hubspot-token', scopes);
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { kind: 'unsent' },
    ]);
    desk.account.tokens.set('hubspot-token', ALL_SCOPES);
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { cause: 'hubspot:forget-by-hand', object: { 'marketing-event': { attendance: 'cancel' } } },
    ]);
    expect(desk.participations).toEqual(['CANCELLED']);
  });
});
