import { callDouble, type Answered } from '../serve/call-double.test-kit.js';
import type { ServeOptions } from '../serve/serve-double.js';
import type { HubSpotOptions } from './account.js';
import { property } from './object-type.js';
import { startHubSpotDouble, type HubSpotDouble } from './start-hubspot-double.js';

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

/** Creates one contact and returns its id. */
async function created(
  call: (path: string, body?: unknown) => Promise<Answered>,
  properties: Record<string, string>,
): Promise<string> {
  return (await call(`${CONTACTS}/batch/create`, { inputs: [{ properties }] })).json.results[0].id;
}

function byEmail(email: string, properties: Record<string, string> = {}): Record<string, unknown> {
  return { id: email, idProperty: 'email', properties };
}

function emailsIn(double: HubSpotDouble): (string | undefined)[] {
  return double.account.portal.all(double.account.contacts).map((contact) => contact.values.get('email'));
}

describe('the token', () => {
  it('is refused with 401 when it is missing or unknown', async () => {
    const { double } = await hubspot();
    const missing = await callDouble(`${double.url}${CONTACTS}`);
    const unknown = await callDouble(`${double.url}${CONTACTS}`, { token: 'other' });
    expect([missing.status, missing.json.category]).toEqual([401, 'INVALID_AUTHENTICATION']);
    expect([unknown.status, unknown.json.category]).toEqual([401, 'EXPIRED_AUTHENTICATION']);
  });

  it('is refused with 403 and the name of the missing scope', async () => {
    const { call } = await hubspot({ tokens: { 'hubspot-token': ['crm.objects.contacts.read'] } });
    const answer = await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail('a@example.com')] });
    expect([answer.status, answer.json.category]).toEqual([403, 'MISSING_SCOPES']);
    expect(answer.json.errors[0].context.requiredGranularScopes).toEqual(['crm.objects.contacts.write']);
  });
});

describe('a batch upsert', () => {
  it('creates a contact, then updates it even if the e-mail differs in case', async () => {
    const { double, call } = await hubspot();
    const first = await call(`${CONTACTS}/batch/upsert`, {
      inputs: [byEmail('Ann@Example.com', { firstname: 'Ann' })],
    });
    const second = await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail('ann@example.com', { city: 'Oslo' })] });
    expect([first.status, first.json.results[0].new]).toEqual([200, true]);
    expect(second.json.results[0]).toMatchObject({ id: first.json.results[0].id, new: false });
    expect(second.json.results[0].properties).toMatchObject({ email: 'ann@example.com', city: 'Oslo' });
    expect(emailsIn(double)).toEqual(['ann@example.com']);
  });

  it.each([
    ['more than 100 inputs', Array.from({ length: 101 }, (_, n) => byEmail(`a${n}@example.com`))],
    ['no input', []],
    ['one e-mail address twice, ignoring case', [byEmail('a@example.com'), byEmail('A@example.com')]],
    ['hs_object_id as idProperty', [{ id: '501', idProperty: 'hs_object_id', properties: {} }]],
    ['no idProperty', [{ id: 'a@example.com', properties: {} }]],
    ['an idProperty whose values are not unique', [{ id: 'Ann', idProperty: 'firstname', properties: {} }]],
    ['two idProperties', [byEmail('a@example.com'), { id: '1', idProperty: 'engagement_id', properties: {} }]],
    ['a value that is not a text', [{ id: 'a@example.com', idProperty: 'email', properties: { firstname: 7 } }]],
  ])('refuses %s with 400 and writes nothing', async (_name, inputs) => {
    const { double, call } = await hubspot();
    const answer = await call(`${CONTACTS}/batch/upsert`, { inputs });
    expect([answer.status, answer.json.category]).toEqual([400, 'VALIDATION_ERROR']);
    expect(emailsIn(double)).toEqual([]);
  });

  it('refuses the whole batch if one record is invalid, and names the property', async () => {
    const { double, call } = await hubspot();
    const answer = await call(`${CONTACTS}/batch/upsert`, {
      inputs: [byEmail('a@example.com'), byEmail('b@example.com', { track: 'middle' }), byEmail('c@example.com')],
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      expect.objectContaining({ code: 'INVALID_OPTION', context: { propertyName: ['track'] } }),
    ]);
    expect(emailsIn(double)).toEqual([]);
  });

  it.each([
    ['multi-status', 207],
    ['in-200', 200],
  ] as const)(
    'with %s writes the other records and reports the failed one, with HTTP %i',
    async (batchErrors, status) => {
      const { double, call } = await hubspot({ batchErrors });
      const answer = await call(`${CONTACTS}/batch/upsert`, {
        inputs: [{ ...byEmail('b@example', {}), objectWriteTraceId: 'second' }, byEmail('a@example.com')],
      });
      expect([answer.status, answer.json.numErrors, answer.json.results.length]).toEqual([status, 1, 1]);
      expect(answer.json.errors[0]).toMatchObject({
        category: 'VALIDATION_ERROR',
        context: { ids: ['b@example'], objectWriteTraceId: ['second'] },
      });
      expect(emailsIn(double)).toEqual(['a@example.com']);
    },
  );

  it('of a date version reports errors with HTTP 200 for a unique property, but refuses the batch for e-mails', async () => {
    const { call } = await hubspot();
    const path = '/crm/objects/2026-03/contacts/batch/upsert';
    const wrong = { id: '1', idProperty: 'engagement_id', properties: { track: 'middle' } };
    const byId = await call(path, { inputs: [wrong, { id: '2', idProperty: 'engagement_id', properties: {} }] });
    const email = await call(path, {
      inputs: [byEmail('a@example.com', { track: 'middle' }), byEmail('b@example.com')],
    });
    expect([byId.status, byId.json.numErrors, byId.json.results.length]).toEqual([200, 1, 1]);
    expect(email.status).toBe(400);
  });
});

describe('other batches', () => {
  it('create nothing if one e-mail is taken, and answer 409 with the id of its contact', async () => {
    const { double, call } = await hubspot();
    const known = await created(call, { email: 'a@example.com' });
    const answer = await call(`${CONTACTS}/batch/create`, {
      inputs: [{ properties: { email: 'b@example.com' } }, { properties: { email: 'a@example.com' } }],
    });
    expect([answer.status, answer.json.category]).toEqual([409, 'CONFLICT']);
    expect(answer.json.message).toContain(known);
    expect(emailsIn(double)).toEqual(['a@example.com']);
  });

  it('update the records that exist and name the others in a 207', async () => {
    const { call } = await hubspot();
    const id = await created(call, { email: 'a@example.com' });
    const answer = await call(`${CONTACTS}/batch/update`, {
      inputs: [
        { id, properties: { city: 'Oslo' } },
        { id: '404', properties: { city: 'Bergen' } },
      ],
    });
    expect([answer.status, answer.json.results.length]).toEqual([207, 1]);
    expect(answer.json.errors[0]).toMatchObject({ category: 'OBJECT_NOT_FOUND', context: { ids: ['404'] } });
  });

  it('refuse an update to the e-mail of another contact', async () => {
    const { double, call } = await hubspot();
    await created(call, { email: 'a@example.com' });
    const id = await created(call, { email: 'b@example.com' });
    const answer = await call(`${CONTACTS}/batch/update`, { inputs: [{ id, properties: { email: 'A@example.com' } }] });
    expect([answer.status, answer.json.errors[0].code]).toEqual([400, 'CONFLICTING_UNIQUE_VALUE']);
    expect(emailsIn(double)).toEqual(['a@example.com', 'b@example.com']);
  });

  it('undo the records before a refused one, so that their e-mails are free again', async () => {
    const { call } = await hubspot();
    const refused = await call(`${CONTACTS}/batch/upsert`, {
      inputs: [byEmail('a@example.com'), byEmail('b@example.com', { nothing: 'x' })],
    });
    const again = await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail('a@example.com')] });
    expect(refused.status).toBe(400);
    expect(again.json.results[0].new).toBe(true);
  });

  it('leave no history and no association of an undone record', async () => {
    const { double, call } = await hubspot();
    const id = await created(call, { email: 'a@example.com', city: 'Oslo' });
    await call(`${CONTACTS}/batch/upsert`, {
      inputs: [byEmail('a@example.com', { city: 'Bergen' }), byEmail('b@example.com', { nothing: 'x' })],
    });
    const note = { properties: { hs_timestamp: '2026-11-01' } };
    const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 }];
    await call('/crm/v3/objects/notes/batch/create', {
      inputs: [{ ...note, associations: [{ to: { id }, types }] }, { properties: {} }],
    });
    const read = { inputs: [{ id }], properties: [], propertiesWithHistory: ['city'] };
    const { json } = await call(`${CONTACTS}/batch/read`, read);
    expect(json.results[0].propertiesWithHistory.city.map(({ value }: { value: string }) => value)).toEqual(['Oslo']);
    expect(double.account.associations.all()).toEqual([]);
  });

  it('read by a unique property, with history, and name missing records', async () => {
    const { call } = await hubspot();
    await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail('a@example.com', { city: 'Oslo' })] });
    await call(`${CONTACTS}/batch/upsert`, { inputs: [byEmail('a@example.com', { city: 'Bergen' })] });
    const answer = await call(`${CONTACTS}/batch/read`, {
      idProperty: 'email',
      properties: ['city', 'phone'],
      propertiesWithHistory: ['city'],
      inputs: [{ id: 'a@example.com' }, { id: 'z@example.com' }],
    });
    expect([answer.status, answer.json.errors[0].context.ids]).toEqual([207, ['z@example.com']]);
    expect(answer.json.results[0].properties).toMatchObject({ city: 'Bergen', phone: null });
    expect(answer.json.results[0].propertiesWithHistory.city.map(({ value }: { value: string }) => value)).toEqual([
      'Bergen',
      'Oslo',
    ]);
  });
});
