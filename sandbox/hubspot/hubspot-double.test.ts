import { callDouble, type Answered } from '../serve/call-double.js';
import type { ServeOptions } from '../serve/serve-double.js';
import { ALL_SCOPES, type HubSpotOptions } from './account.js';
import { hubSpotFault, startHubSpotDouble, type HubSpotDouble } from './start-hubspot-double.js';
import { property } from './object-type.js';

const CONTACTS = '/crm/v3/objects/contacts';
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

function byEmail(email: string, properties: Record<string, string> = {}): Record<string, unknown> {
  return { id: email, idProperty: 'email', properties };
}

function emailsIn(double: HubSpotDouble): (string | undefined)[] {
  return double.account.portal.all(double.account.contacts).map((contact) => contact.values.get('email'));
}

describe('a contact', () => {
  it('that was merged by a person is reached by its old id, or is gone, as the merge says', async () => {
    const { double, call } = await hubspot();
    const ids = [];
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      ids.push((await call(CONTACTS, { properties: { email } })).json.id);
    }
    const { portal, contacts } = double.account;
    const [kept, redirected, gone] = ids.map((id) => portal.byId(contacts, id)!);
    portal.merge(kept!, redirected!, true);
    portal.merge(kept!, gone!, false);
    expect((await call(`${CONTACTS}/${redirected!.id}`)).json.id).toBe(kept!.id);
    expect((await call(`${CONTACTS}/${gone!.id}`)).status).toBe(404);
    expect((await call(`${CONTACTS}/c@example.com?idProperty=email`)).json.id).toBe(kept!.id);
  });

  it('is found by search only after the lag, and by IN only in lower case', async () => {
    let nowMs = 1_000_000;
    const { call } = await hubspot({ now: () => nowMs, searchLagMs: 5000 });
    await call(CONTACTS, { properties: { email: 'a@example.com' } });
    const search = (values: string[]): Promise<Answered> =>
      call(`${CONTACTS}/search`, { filterGroups: [{ filters: [{ propertyName: 'email', operator: 'IN', values }] }] });
    expect((await search(['a@example.com'])).json.total).toBe(0);
    nowMs += 5000;
    expect((await search(['a@example.com'])).json.total).toBe(1);
    expect((await search(['A@example.com'])).status).toBe(400);
  });

  it('does not move back to an earlier lifecycle stage until the stage is cleared', async () => {
    const { call } = await hubspot();
    const { id } = (await call(CONTACTS, { properties: { email: 'a@example.com', lifecyclestage: 'customer' } })).json;
    const stage = async (lifecyclestage: string): Promise<string> =>
      (await call(`${CONTACTS}/${id}`, { properties: { lifecyclestage } }, 'PATCH')).json.properties.lifecyclestage;
    expect(await stage('lead')).toBe('customer');
    expect(await stage('')).toBeNull();
    expect(await stage('lead')).toBe('lead');
  });

  it('leaves nothing after its permanent deletion, and can be created again', async () => {
    const { call } = await hubspot();
    const { id } = (await call(CONTACTS, { properties: { email: 'a@example.com' } })).json;
    await call(`${CONTACTS}/gdpr-delete`, { objectId: 'a@example.com', idProperty: 'email' });
    expect((await call(`${CONTACTS}/${id}?archived=true`)).status).toBe(404);
    expect((await call(CONTACTS, { properties: { email: 'a@example.com' } })).status).toBe(201);
  });
});

describe('a note', () => {
  it('is created with its association to the contact, which is read from both ends', async () => {
    const { call } = await hubspot();
    const contact = (await call(CONTACTS, { properties: { email: 'a@example.com' } })).json;
    const note = await call('/crm/v3/objects/notes', {
      properties: { hs_timestamp: '2026-11-01T10:00:00Z', hs_note_body: 'asked' },
      associations: [
        { to: { id: contact.id }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 }] },
      ],
    });
    const from = await call(`/crm/v4/objects/contacts/${contact.id}/associations/notes`);
    expect(note.status).toBe(201);
    expect(from.json.results.map(({ toObjectId }: { toObjectId: number }) => String(toObjectId))).toEqual([
      note.json.id,
    ]);
  });

  it.each([
    ['has no timestamp', { hs_note_body: 'asked' }, 202],
    ['is associated by a type that does not exist', { hs_timestamp: '2026-11-01T10:00:00Z' }, 279],
  ])('is refused when it %s, and nothing stays of it', async (_name, properties, associationTypeId) => {
    const { double, call } = await hubspot();
    const contact = (await call(CONTACTS, { properties: { email: 'a@example.com' } })).json;
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
  it('is reached by its name, its full name and its type id, and has a schema', async () => {
    const { call } = await hubspot({
      customObjects: [
        {
          name: 'question',
          properties: [property('key', { hasUniqueValue: true }), property('text')],
          required: ['key'],
        },
      ],
    });
    const [schema] = (await call('/crm/v3/schemas')).json.results;
    expect(schema.requiredProperties).toEqual(['key']);
    const { id } = (await call('/crm/v3/objects/question', { properties: { key: '1', text: 'why?' } })).json;
    for (const name of ['question', schema.fullyQualifiedName, schema.objectTypeId]) {
      expect((await call(`/crm/v3/objects/${name}/${id}`)).status).toBe(200);
    }
    expect((await call('/crm/v3/objects/answers/1')).status).toBe(404);
  });
});

describe('the properties of contacts', () => {
  it('say what is unique, read only and allowed', async () => {
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
  const attendance = (state: string): string =>
    `/marketing/v3/marketing-events/attendance/101/${state}/email-create?externalAccountId=acme`;
  const breakdown = '/marketing/v3/marketing-events/participations/acme/101/breakdown';

  it('is one event however often it is upserted, and its attendance one participation each', async () => {
    const { double, call } = await hubspot();
    for (let time = 0; time < 2; time += 1) {
      await call('/marketing/v3/marketing-events/events/upsert', { inputs: [event] });
      await call(attendance('register'), {
        inputs: [{ ...person, email: 'A@example.com', interactionDateTime: 1000 }],
      });
    }
    await call(attendance('attend'), { inputs: [{ ...person, email: 'a@example.com', interactionDateTime: 2000 }] });
    const { total, results } = (await call(breakdown)).json;
    expect([total, results[0].properties.attendanceState]).toEqual([1, 'ATTENDED']);
    expect(double.account.marketingEvents.all()).toHaveLength(1);
    expect(emailsIn(double)).toEqual(['a@example.com']);
  });

  it.each([
    ['attendance of an event that is not there', attendance('attend').replace('/101/', '/102/'), {}, 404],
    ['attendance without the account of the event', attendance('attend').split('?')[0]!, {}, 400],
    ['a state that is none', attendance('came'), {}, 400],
    ['attendance without its instant', attendance('attend'), { interactionDateTime: undefined }, 400],
    ['attendance without contactProperties', attendance('attend'), { contactProperties: undefined }, 400],
    [
      'a registration that has the time of joining',
      attendance('register'),
      { properties: { joinedAt: '2026-11-21' } },
      400,
    ],
    ['attendance with a field that is none', attendance('attend'), { name: 'Ann' }, 400],
    ['an event without an organizer', '/marketing/v3/marketing-events/events/upsert', { eventOrganizer: '' }, 400],
    [
      'an event without customProperties',
      '/marketing/v3/marketing-events/events/upsert',
      { customProperties: undefined },
      400,
    ],
  ])('is refused: %s', async (_name, path, wrong, status) => {
    const { call } = await hubspot();
    await call('/marketing/v3/marketing-events/events/upsert', { inputs: [event] });
    const attended = { ...person, email: 'a@example.com', interactionDateTime: 1 };
    const input = { ...(path.includes('/attendance/') ? attended : event), ...wrong };
    expect((await call(path, { inputs: [input] })).status).toBe(status);
  });

  it('refuses attendance with an invalid e-mail as a whole', async () => {
    const { double, call } = await hubspot();
    await call('/marketing/v3/marketing-events/events/upsert', { inputs: [event] });
    const answer = await call(attendance('register'), {
      inputs: [
        { ...person, email: 'a@example.com', interactionDateTime: 1 },
        { ...person, email: 'b@example', interactionDateTime: 1 },
      ],
    });
    expect([answer.status, emailsIn(double)]).toEqual([400, []]);
  });

  it('answers to another app by its own id only', async () => {
    const { double, call } = await hubspot({ tokens: { 'hubspot-token': ALL_SCOPES, other: ALL_SCOPES } });
    const root = '/marketing/marketing-events/2026-09';
    await call(`${root}/events/upsert`, { inputs: [event] });
    const byOther = (path: string, body?: unknown) =>
      callDouble(`${double.url}${root}${path}`, { token: 'other', body });
    expect((await byOther('/events/101?externalAccountId=acme')).status).toBe(404);
    const { results } = (await byOther('/101/identifiers')).json;
    expect(results).toMatchObject([{ externalAccountId: 'acme', appInfo: { id: '1' } }]);
    const attended = {
      ...person,
      email: 'a@example.com',
      interactionDateTime: 1,
      contactProperties: { firstname: 'A' },
    };
    const answer = await byOther(`/${results[0].objectId}/attendance/attend/email-create`, { inputs: [attended] });
    expect([answer.status, emailsIn(double)]).toEqual([200, ['a@example.com']]);
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
  ])('hold from version %s on for %j', async (version, properties, code, name) => {
    const { call } = await hubspot();
    const answer = await call(create(version), { inputs: [{ properties }] });
    expect(answer.json.errors[0].errors[0]).toMatchObject({ code, context: { propertyName: [name] } });
    expect((await call(create('2026-03'), { inputs: [{ properties }] })).json.results).toHaveLength(1);
  });

  it('are shown by the schema as far as they are about creation', async () => {
    const { call } = await hubspot();
    const schema = (await call('/crm-object-schemas/2026-09/schemas/contacts')).json;
    expect(schema.requiredProperties).toEqual(['firstname']);
  });
});

describe('a list', () => {
  it('takes contacts by id, names those that are missing, and refuses them where filters fill it', async () => {
    const { double, call } = await hubspot({ lists: [{ listId: '7' }, { listId: '8', dynamic: true }] });
    const { id } = (await call(CONTACTS, { properties: { email: 'a@example.com' } })).json;
    const add = (listId: string) => call(`/crm/lists/2026-09/${listId}/memberships/add`, [id, '1'], 'PUT');
    expect((await add('7')).json).toMatchObject({ recordsIdsAdded: [id], recordIdsMissing: ['1'] });
    expect((await add('7')).json).toMatchObject({ recordsIdsAdded: [] });
    expect([(await add('8')).status, (await add('9')).status]).toEqual([400, 404]);
    expect(double.account.lists.find('7')?.members.size).toBe(1);
  });
});

describe('the limits', () => {
  it('refuse the request after the last of ten seconds, and let one pass when the first is ten seconds old', async () => {
    let nowMs = 1_000_000;
    const { call } = await hubspot({ per10s: 2, now: () => nowMs });
    const first = await call(CONTACTS);
    nowMs += 1;
    await call(CONTACTS);
    const refused = await call(CONTACTS);
    nowMs += 9999;
    const later = await call(CONTACTS);
    expect([first.headers.get('X-HubSpot-RateLimit-Max'), first.headers.get('X-HubSpot-RateLimit-Remaining')]).toEqual([
      '2',
      '1',
    ]);
    expect([refused.status, refused.json.policyName]).toEqual([429, 'TEN_SECONDLY_ROLLING']);
    expect([later.status, (await call(CONTACTS)).status]).toEqual([200, 429]);
  });

  it('of a day end at midnight of the time zone of the account', async () => {
    let nowMs = Date.parse('2026-11-20T23:59:00+01:00');
    const { call } = await hubspot({ perDay: 1, timeZone: 'Europe/Oslo', now: () => nowMs });
    await call(CONTACTS);
    const refused = await call(CONTACTS);
    nowMs += 60_000;
    expect([refused.status, refused.json.policyName]).toEqual([429, 'DAILY']);
    expect((await call(CONTACTS)).status).toBe(200);
  });

  it('of search are five a second, told by no header', async () => {
    const { call } = await hubspot({ now: () => 1_000_000 });
    const answers = [];
    for (let time = 0; time < 6; time += 1) answers.push(await call(`${CONTACTS}/search`, {}));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect([answers[5]!.json.policyName, answers[0]!.headers.get('X-HubSpot-RateLimit-Max')]).toEqual([
      'SECONDLY',
      null,
    ]);
  });
});

describe('a fault', () => {
  it('befalls the requests it is meant for, in the order of its counts', async () => {
    const { double, call } = await hubspot();
    double.faults.add({ effect: hubSpotFault('locked')!, path: '/batch/upsert', skip: 1, times: 1 });
    const statuses = [];
    for (const name of ['a', 'b', 'c']) {
      await call(CONTACTS);
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
    await expect(call(CONTACTS, { properties: { email: 'a@example.com' } })).rejects.toThrow();
    expect(emailsIn(double)).toEqual(left);
  });

  it('is added over HTTP by its name, and refused by a name that is none', async () => {
    const { double, call } = await hubspot();
    const added = await call('/_double/faults', { fault: 'migration' });
    const refused = await call('/_double/faults', { fault: 'nothing' });
    const befallen = await call(CONTACTS);
    expect([added.status, refused.status, befallen.status, befallen.headers.get('Retry-After')]).toEqual([
      204,
      400,
      477,
      '30',
    ]);
    expect(double.requests.map(({ status }) => status)).toEqual([477]);
  });
});

describe('what it holds', () => {
  it('is shown as JSON and as a page in which nothing of a value is markup', async () => {
    const { double, call } = await hubspot();
    await call(CONTACTS, { properties: { email: 'a@example.com', firstname: '<b>Ann' } });
    const state = await callDouble(`${double.url}/_double/state`);
    const page = await callDouble(`${double.url}/`);
    expect(state.json.contacts).toEqual([expect.objectContaining({ email: 'a@example.com', firstname: '<b>Ann' })]);
    expect(page.text).toContain('&lt;b&gt;Ann');
  });
});
