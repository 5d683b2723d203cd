import { callDouble, type Answered } from '../serve/call-double.test-kit.js';
import type { ServeOptions } from '../serve/serve-double.js';
import { ALL_SCOPES, type HubSpotOptions } from './account.js';
import { hubSpotFaults, startHubSpotDouble, type HubSpotDouble } from './start-hubspot-double.js';
import { property } from './object-type.js';

const CONTACTS = '/crm/v3/objects/contacts';
/** Any request that counts against the limits. */
const ANY = '/crm/v3/properties/contacts';
const started: HubSpotDouble[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((double) => double.close()));
});

async function hubspot(options: HubSpotOptions & ServeOptions = {}): Promise<{
  double: HubSpotDouble;
  call: (path: string, body?: unknown, method?: string) => Promise<Answered>;
}> {
  const double = await startHubSpotDouble({
    contactProperties: [
      property('engagement_id', { hasUniqueValue: true }),
      property('last_seen', { type: 'date' }),
      property('track', { options: ['main', 'side'] }),
    ],
    ...options,
  });
  started.push(double);
  return {
    double,
    call: (path, body, method) =>
      callDouble(`${double.url}${path}`, { token: 'hubspot-token', body, ...(method !== undefined && { method }) }),
  };
}

type Caller = (path: string, body?: unknown) => Promise<Answered>;

/** Creates one contact and returns HubSpot's answer. */
async function created(call: Caller, properties: Record<string, string>): Promise<{ id: string }> {
  return (await call(`${CONTACTS}/batch/create`, { inputs: [{ properties }] })).json.results[0];
}

/** Returns the id of the contact with this id or e-mail; undefined if there is none. */
async function read(call: Caller, id: string, idProperty?: string): Promise<string | undefined> {
  const body = { inputs: [{ id }], properties: [], propertiesWithHistory: [], idProperty };
  return (await call(`${CONTACTS}/batch/read`, body)).json.results[0]?.id;
}

function byEmail(email: string, properties: Record<string, string> = {}): Record<string, unknown> {
  return { id: email, idProperty: 'email', properties };
}

function emailsIn(double: HubSpotDouble): (string | undefined)[] {
  return double.account.portal.all(double.account.contacts).map((contact) => contact.values.get('email'));
}

describe('a contact', () => {
  it('is found under its old id after a merge only if the merge redirects it', async () => {
    const { double, call } = await hubspot();
    const ids = [];
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      ids.push((await created(call, { email })).id);
    }
    const { portal, contacts } = double.account;
    const [kept, redirected, gone] = ids.map((id) => portal.byId(contacts, id)!);
    portal.merge(kept!, redirected!, true);
    portal.merge(kept!, gone!, false);
    expect(await read(call, redirected!.id)).toBe(kept!.id);
    expect(await read(call, gone!.id)).toBeUndefined();
    expect(await read(call, 'c@example.com', 'email')).toBe(kept!.id);
  });

  it('keeps the additional e-mails of a contact that is merged into it', async () => {
    const { double, call } = await hubspot();
    const { portal, contacts } = double.account;
    const records = [];
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      records.push(portal.byId(contacts, (await created(call, { email })).id)!);
    }
    const [a, b, c] = records;
    portal.merge(b!, c!, false);
    portal.merge(a!, b!, false);
    expect(a!.values.get('hs_additional_emails')).toBe('b@example.com;c@example.com');
    expect(await read(call, 'c@example.com', 'email')).toBe(a!.id);
  });

  it('does not move back to an earlier lifecycle stage until the stage is cleared', async () => {
    const { call } = await hubspot();
    const { id } = await created(call, { email: 'a@example.com', lifecyclestage: 'customer' });
    const stage = async (lifecyclestage: string): Promise<string> =>
      (await call(`${CONTACTS}/batch/update`, { inputs: [{ id, properties: { lifecyclestage } }] })).json.results[0]
        .properties.lifecyclestage;
    expect(await stage('lead')).toBe('customer');
    expect(await stage('')).toBeNull();
    expect(await stage('lead')).toBe('lead');
  });
});

describe('a note', () => {
  it('is created with its association to the contact, which both records show', async () => {
    const { call } = await hubspot();
    const contact = await created(call, { email: 'a@example.com' });
    const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 }];
    const note = await call('/crm/v3/objects/notes/batch/create', {
      inputs: [
        {
          properties: { hs_timestamp: '2026-11-01T10:00:00Z', hs_note_body: 'asked' },
          associations: [{ to: { id: contact.id }, types }],
        },
      ],
    });
    const { id } = note.json.results[0];
    const othersOf = async (from: string, to: string, inputId: string): Promise<string[]> => {
      const answer = await call(`/crm/v4/associations/${from}/${to}/batch/read`, { inputs: [{ id: inputId }] });
      return answer.json.results[0].to.map(({ toObjectId }: { toObjectId: number }) => String(toObjectId));
    };
    expect(note.status).toBe(201);
    expect(await othersOf('contacts', 'notes', contact.id)).toEqual([id]);
    expect(await othersOf('notes', 'contacts', id)).toEqual([contact.id]);
  });

  it.each([
    ['has no timestamp', { hs_note_body: 'asked' }, 202],
    ['is associated by a type that does not exist', { hs_timestamp: '2026-11-01T10:00:00Z' }, 279],
  ])('is refused without a trace if it %s', async (_name, properties, associationTypeId) => {
    const { double, call } = await hubspot();
    const contact = await created(call, { email: 'a@example.com' });
    const answer = await call('/crm/v3/objects/notes/batch/create', {
      inputs: [
        {
          properties,
          associations: [
            { to: { id: contact.id }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId }] },
          ],
        },
      ],
    });
    expect(answer.status).toBe(400);
    expect(double.account.portal.all(double.account.type('notes'))).toEqual([]);
  });
});

describe('a custom object', () => {
  it('is found by its name, its full name and its type id, and has a schema', async () => {
    const { call } = await hubspot({
      customObjects: [
        {
          name: 'question',
          properties: [property('key', { hasUniqueValue: true }), property('text')],
          required: ['key'],
        },
      ],
    });
    const schema = (await call('/crm/v3/schemas/question')).json;
    expect(schema.requiredProperties).toEqual(['key']);
    const { results } = (
      await call('/crm/v3/objects/question/batch/create', { inputs: [{ properties: { key: '1', text: 'why?' } }] })
    ).json;
    const wanted = { inputs: [{ id: results[0].id }], properties: [], propertiesWithHistory: [] };
    for (const name of ['question', schema.fullyQualifiedName, schema.objectTypeId]) {
      expect((await call(`/crm/v3/objects/${name}/batch/read`, wanted)).status).toBe(200);
    }
    expect((await call('/crm/v3/objects/answers/batch/read', wanted)).status).toBe(404);
  });
});

describe('the properties of contacts', () => {
  it('state which values are unique, read-only and allowed', async () => {
    const { call } = await hubspot();
    const { results } = (await call('/crm/v3/properties/contacts')).json;
    const named = (name: string): any => results.find((each: { name: string }) => each.name === name);
    expect(named('engagement_id').hasUniqueValue).toBe(true);
    expect(named('createdate').modificationMetadata.readOnlyValue).toBe(true);
    expect(named('track').options.map(({ value }: { value: string }) => value)).toEqual(['main', 'side']);
  });
});

describe('a marketing event', () => {
  const event = {
    eventName: 'Day',
    eventOrganizer: 'ACME',
    customProperties: [],
    externalAccountId: 'acme',
    externalEventId: '101',
  };
  const person = { properties: {}, contactProperties: {} };
  const root = '/marketing/v3/marketing-events';
  const upsert = async (call: Caller): Promise<string> =>
    (await call(`${root}/events/upsert`, { inputs: [event] })).json.results[0].objectId;
  const attendance = (eventId: string, state: string): string => `${root}/${eventId}/attendance/${state}/email-create`;

  it('stays one event after repeated upserts, with one participation for each contact', async () => {
    const { double, call } = await hubspot();
    const { marketingEvents } = double.account;
    const attend = (state: string, email: string, interactionDateTime: number): Promise<Answered> =>
      call(attendance(marketingEvents.all()[0]!.id, state), { inputs: [{ ...person, email, interactionDateTime }] });
    for (let time = 0; time < 2; time += 1) {
      await upsert(call);
      await attend('register', 'A@example.com', 1000);
    }
    await attend('attend', 'a@example.com', 2000);
    expect(marketingEvents.all()).toHaveLength(1);
    expect(marketingEvents.participationsOf(marketingEvents.all()[0]!).map(({ state }) => state)).toEqual(['ATTENDED']);
    expect(emailsIn(double)).toEqual(['a@example.com']);
  });

  it.each([
    ['an unknown event', 'attend', { eventId: '1' }, 404],
    ['an unknown state', 'came', {}, 400],
    ['no instant', 'attend', { interactionDateTime: undefined }, 400],
    ['no contactProperties', 'attend', { contactProperties: undefined }, 400],
    ['the time of joining, for a registration', 'register', { properties: { joinedAt: '2026-11-21' } }, 400],
    ['an unknown field', 'attend', { name: 'Ann' }, 400],
  ])('refuses attendance with %s', async (_name, state, { eventId, ...wrong }: Record<string, unknown>, status) => {
    const { call } = await hubspot();
    const path = attendance((eventId as string | undefined) ?? (await upsert(call)), state);
    const input = { ...person, email: 'a@example.com', interactionDateTime: 1, ...wrong };
    expect((await call(path, { inputs: [input] })).status).toBe(status);
  });

  it.each([
    ['an organizer', { eventOrganizer: '' }],
    ['customProperties', { customProperties: undefined }],
  ])('is refused without %s', async (_name, wrong) => {
    const { call } = await hubspot();
    expect((await call(`${root}/events/upsert`, { inputs: [{ ...event, ...wrong }] })).status).toBe(400);
  });

  it('refuses the whole attendance request if one e-mail is invalid', async () => {
    const { double, call } = await hubspot();
    const answer = await call(attendance(await upsert(call), 'register'), {
      inputs: [
        { ...person, email: 'a@example.com', interactionDateTime: 1 },
        { ...person, email: 'b@example', interactionDateTime: 1 },
      ],
    });
    expect([answer.status, emailsIn(double)]).toEqual([400, []]);
  });

  it('is available to another app only by its object id', async () => {
    const { double, call } = await hubspot({ tokens: { 'hubspot-token': ALL_SCOPES, other: ALL_SCOPES } });
    const byOther: Caller = (path, body) => callDouble(`${double.url}${path}`, { token: 'other', body });
    const objectId = await upsert(call);
    const { results } = (await byOther(`${root}/101/identifiers`)).json;
    expect(results).toMatchObject([{ objectId, externalAccountId: 'acme', appInfo: { id: '1' } }]);
    const attended = { ...person, email: 'a@example.com', interactionDateTime: 1 };
    const answer = await byOther(attendance(objectId, 'attend'), { inputs: [attended] });
    expect([answer.status, emailsIn(double)]).toEqual([200, ['a@example.com']]);
    expect(await upsert(byOther)).not.toBe(objectId);
  });
});

describe('the rules of an administrator', () => {
  const create = (version: string) => `/crm/objects/${version}/contacts/batch/create`;
  const ann = { email: 'a@example.com' };

  it.each([
    ['2026-09', ann, 'MISSING_REQUIRED_PROPERTY', 'firstname'],
    [
      '2026-09',
      { ...ann, firstname: 'Ann', lifecyclestage: 'salesqualifiedlead' },
      'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
      'hs_lead_status',
    ],
  ])('apply from version %s on for %j', async (version, properties, code, name) => {
    const { call } = await hubspot();
    const answer = await call(create(version), { inputs: [{ properties }] });
    expect(answer.json.errors[0].errors[0]).toMatchObject({ code, context: { propertyName: [name] } });
    expect((await call(create('2026-03'), { inputs: [{ properties }] })).json.results).toHaveLength(1);
  });

  it('appear in the schema if they apply to creation', async () => {
    const { call } = await hubspot();
    const schema = (await call('/crm-object-schemas/2026-09/schemas/contacts')).json;
    expect(schema.requiredProperties).toEqual(['firstname']);
  });
});

describe('a list', () => {
  it('accepts contacts by id, names missing contacts, and refuses changes if it is dynamic', async () => {
    const { double, call } = await hubspot({ lists: [{ listId: '7' }, { listId: '8', dynamic: true }] });
    const { id } = await created(call, { email: 'a@example.com' });
    const add = (listId: string) => call(`/crm/lists/2026-09/${listId}/memberships/add`, [id, '1'], 'PUT');
    expect((await add('7')).json).toMatchObject({ recordsIdsAdded: [id], recordIdsMissing: ['1'] });
    expect((await add('7')).json).toMatchObject({ recordsIdsAdded: [] });
    expect([(await add('8')).status, (await add('9')).status]).toEqual([400, 404]);
    const noJson = { method: 'PUT', headers: { authorization: 'Bearer hubspot-token' }, body: 'no JSON' };
    expect((await fetch(`${double.url}/crm/lists/2026-09/7/memberships/add`, noJson)).status).toBe(400);
    expect(double.account.lists.get('7')?.members.size).toBe(1);
  });
});

describe('the limits', () => {
  it('refuse a request over the ten-second limit, and accept one when the oldest is ten seconds old', async () => {
    let nowMs = 1_000_000;
    const { call } = await hubspot({ per10s: 2, now: () => nowMs });
    const first = await call(ANY);
    nowMs += 1;
    await call(ANY);
    const refused = await call(ANY);
    nowMs += 9999;
    const later = await call(ANY);
    expect([first.headers.get('X-HubSpot-RateLimit-Max'), first.headers.get('X-HubSpot-RateLimit-Remaining')]).toEqual([
      '2',
      '1',
    ]);
    expect([refused.status, refused.json.policyName]).toEqual([429, 'TEN_SECONDLY_ROLLING']);
    expect([later.status, (await call(ANY)).status]).toEqual([200, 429]);
  });

  it('of a day reset at midnight in the time zone of the account', async () => {
    let nowMs = Date.parse('2026-11-20T23:59:00+01:00');
    const { call } = await hubspot({ perDay: 1, timeZone: 'Europe/Oslo', now: () => nowMs });
    await call(ANY);
    const refused = await call(ANY);
    nowMs += 60_000;
    expect([refused.status, refused.json.policyName]).toEqual([429, 'DAILY']);
    expect((await call(ANY)).status).toBe(200);
  });
});

describe('a fault', () => {
  it('affects the matching requests according to its counts', async () => {
    const { double, call } = await hubspot();
    double.faults.add({ effect: hubSpotFaults['locked']!, path: '/batch/upsert', skip: 1, times: 1 });
    const statuses = [];
    for (const name of ['a', 'b', 'c']) {
      await call(ANY);
      statuses.push((await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail(`${name}@example.com`)] })).status);
    }
    expect(statuses).toEqual([200, 423, 200]);
    expect([emailsIn(double), double.faults.waiting]).toEqual([['a@example.com', 'c@example.com'], 0]);
  });

  it.each([
    ['dropBefore', []],
    ['dropAfter', ['a@example.com']],
  ] as const)('%s closes the connection, and leaves %j', async (kind, left) => {
    const { double, call } = await hubspot();
    double.faults.add({ effect: { kind } });
    await expect(created(call, { email: 'a@example.com' })).rejects.toThrow();
    expect(emailsIn(double)).toEqual(left);
  });

  it('is added over HTTP by name, and an unknown name is refused', async () => {
    const { double, call } = await hubspot();
    const added = await call('/_double/faults', { fault: 'migration' });
    const refused = await call('/_double/faults', { fault: 'nothing' });
    const befallen = await call(ANY);
    expect([added.status, refused.status, befallen.status, befallen.headers.get('Retry-After')]).toEqual([
      204,
      400,
      477,
      '30',
    ]);
    expect(double.requests.map(({ status }) => status)).toEqual([477]);
  });
});

describe('a request', () => {
  const ASSOCIATIONS = '/crm/v4/associations/notes/contacts/batch';
  const EVENTS = '/marketing/v3/marketing-events';
  const event = {
    externalAccountId: 'a',
    externalEventId: 'e',
    eventName: 'E',
    eventOrganizer: 'O',
    customProperties: [],
  };
  const lists = { properties: [], propertiesWithHistory: [] };
  const ends = { from: { id: '1' }, to: { id: '2' } };

  it.each([
    ['a batch with another field', `${CONTACTS}/batch/create`, { inputs: [{ properties: {} }], after: '1' }],
    ['an input with another field', `${CONTACTS}/batch/create`, { inputs: [{ properties: {}, id: '1' }] }],
    ['a read without its properties', `${CONTACTS}/batch/read`, { inputs: [{ id: '1' }], propertiesWithHistory: [] }],
    ['a read without properties with history', `${CONTACTS}/batch/read`, { inputs: [{ id: '1' }], properties: [] }],
    ['a read with another field', `${CONTACTS}/batch/read`, { inputs: [{ id: '1' }], ...lists, archived: false }],
    ['a removal with properties', `${CONTACTS}/batch/archive`, { inputs: [{ id: '1', properties: {} }] }],
    ['an association with a type', `${ASSOCIATIONS}/associate/default`, { inputs: [{ ...ends, types: [] }] }],
    ['a removed association with a type', `${ASSOCIATIONS}/archive`, { inputs: [{ ...ends, types: [] }] }],
    ['a read of associations with a limit', `${ASSOCIATIONS}/read`, { inputs: [{ id: '1' }], limit: 10 }],
    ['an event with another field', `${EVENTS}/events/upsert`, { inputs: [{ ...event, id: '1' }] }],
    ['events with another field', `${EVENTS}/events/upsert`, { inputs: [event], dryRun: true }],
    ['a query parameter', `${CONTACTS}/batch/read?archived=false`, { inputs: [{ id: '1' }], ...lists }],
  ])('that differs from the documentation is refused: %s', async (_name, path, body) => {
    const { call } = await hubspot();
    const { status, json } = await call(path, body);
    expect([status, json.category]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('the content of the account', () => {
  it('is shown as JSON and as a page that escapes every value', async () => {
    const { double, call } = await hubspot();
    await created(call, { email: 'a@example.com', firstname: '<b>Ann' });
    const state = await callDouble(`${double.url}/_double/state`);
    const page = await callDouble(`${double.url}/`);
    expect(state.json.contacts).toEqual([expect.objectContaining({ email: 'a@example.com', firstname: '<b>Ann' })]);
    expect(page.text).toContain('&lt;b&gt;Ann');
  });
});
