import type { JsonObject } from '../json.js';
import { closeSandboxes, startTestSandbox, textOf } from '../sandbox-client.test-kit.js';

afterEach(closeSandboxes);

const NEW_PIGEONHOLE = { name: 'Gala', startDate: '2027-01-10', endDate: '2027-01-11', timezone: 'Asia/Tokyo' };
const NEW_SESSION = {
  name: 'Panel',
  type: 'qna',
  startDate: '2027-01-10T01:00:00Z',
  endDate: '2027-01-10T02:00:00Z',
};

function fieldsOf(body: JsonObject): unknown[] {
  return (body['errors'] as JsonObject[]).map((error) => error['field']);
}

describe('creating a pigeonhole', () => {
  it('creates one with status new and the documented defaults, and the list shows it', async () => {
    const sandbox = await startTestSandbox();
    const { status, body } = await sandbox.post('/v2/pigeonholes', { ...NEW_PIGEONHOLE, color: 'unknown, ignored' });
    const created = body['data'] as JsonObject;

    expect(status).toBe(201);
    expect(created).toMatchObject({
      ...NEW_PIGEONHOLE,
      status: 'new',
      attendeeProfiles: true,
      registrants: false,
      attendeeCodeRequired: false,
      passcode: expect.stringMatching(/^[A-Z0-9]{6}$/),
      description: expect.stringMatching(/./),
    });
    expect(created).not.toHaveProperty('color');
    expect(created).not.toHaveProperty('expectedParticipants');
    expect(await sandbox.walk('/v2/pigeonholes')).toContainEqual(created);
    expect(await sandbox.walk(`/v2/pigeonholes/${textOf(created['id'])}/attendees`)).toEqual([]);
  });

  it('reports every invalid field', async () => {
    const sandbox = await startTestSandbox();
    const { status, body } = await sandbox.post('/v2/pigeonholes', {
      startDate: '2027-02-30',
      endDate: 5,
      timezone: 'Mars',
    });
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 4500 });
    expect(fieldsOf(body)).toEqual(['name', 'startDate', 'endDate', 'timezone']);
  });

  it('requires an existing subscription in a Team workspace, in the configured field', async () => {
    const sandbox = await startTestSandbox({ workspaceKind: 'team' });
    const code = async (body: JsonObject): Promise<unknown> =>
      (await sandbox.post('/v2/pigeonholes', body)).body['code'];
    expect(fieldsOf((await sandbox.post('/v2/pigeonholes', NEW_PIGEONHOLE)).body)).toEqual(['subscriptionId']);
    expect(await code({ ...NEW_PIGEONHOLE, subscriptionId: 999 })).toBe(4505);
    expect(await code({ ...NEW_PIGEONHOLE, subscriptionId: 7 })).toBeUndefined();
    await sandbox.control('PATCH', 'knobs', { subscriptionField: 'subscription_id' });
    expect(await code({ ...NEW_PIGEONHOLE, subscriptionId: 7 })).toBe(4500);
    expect(await code({ ...NEW_PIGEONHOLE, subscription_id: 7 })).toBeUndefined();
  });

  it('answers 7001 to a body that is not JSON', async () => {
    const sandbox = await startTestSandbox();
    const send = async (contentType: string): Promise<unknown> => {
      const response = await fetch(`${sandbox.baseUrl}/v2/pigeonholes`, {
        method: 'POST',
        headers: { 'X-API-KEY': 'sandbox-key', 'Content-Type': contentType },
        body: '{"name":',
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await send('application/json')).toEqual({ status: 400, body: { code: 7001, message: 'Malformed request' } });
    expect(await send('text/plain')).toMatchObject({ status: 400, body: { code: 7001 } });
  });
});

describe('creating a session', () => {
  it('returns the times with the UTC offset of the pigeonhole, and keeps customised fields', async () => {
    const sandbox = await startTestSandbox();
    const { status, body } = await sandbox.post('/v2/pigeonholes/101/sessions', {
      ...NEW_SESSION,
      anonymousResponses: false,
      extra: 1,
    });
    expect(status).toBe(201);
    expect(body['data']).toMatchObject({
      name: 'Panel',
      startDate: '2027-01-10T09:00:00+08:00',
      endDate: '2027-01-10T10:00:00+08:00',
      anonymousResponses: false,
      comments: true,
      redirectAttendeesTo: 'none',
    });
    expect(body['data']).not.toHaveProperty('extra');
    expect(await sandbox.walk('/v2/pigeonholes/101/sessions')).toContainEqual(body['data']);
  });

  it('requires times only for qna, and reports invalid fields', async () => {
    const sandbox = await startTestSandbox();
    const post = (body: JsonObject): Promise<{ body: JsonObject }> =>
      sandbox.post('/v2/pigeonholes/101/sessions', body);
    expect(fieldsOf((await post({ name: 'A', type: 'qna' })).body)).toEqual(['startDate', 'endDate']);
    expect((await post({ name: 'A', type: 'poll_word_cloud' })).body).toMatchObject({ data: { startDate: null } });
    expect(fieldsOf((await post({ type: 'juggling', comments: 'yes' })).body)).toEqual(['name', 'type', 'comments']);
    expect(fieldsOf((await post({ ...NEW_SESSION, endDate: '2027-01-10T00:00:00Z' })).body)).toEqual(['endDate']);
  });
});

describe('creating registrants in bulk', () => {
  const PATH = '/v2/pigeonholes/101/registrants/bulk';

  it('answers without a body if every registrant was created, and the truth contains them', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth('registrants?pigeonhole=101');
    const { status, body } = await sandbox.post(PATH, {
      data: [{ attendeeCode: '007', Name: 'Ann', 'Shoe size': '38' }, { attendeeCode: 'x-8' }],
    });
    expect({ status, body }).toEqual({ status: 204, body: { text: '' } });
    const created = (await sandbox.truth('registrants?pigeonhole=101')).slice(before.length);
    expect(created).toEqual([
      { id: expect.any(Number), attendeeCode: '007', Name: 'Ann' },
      { id: expect.any(Number), attendeeCode: 'x-8' },
    ]);
  });

  const BATCH: JsonObject = {
    data: [{ attendeeCode: 'a' }, { attendeeCode: 5 }, {}, { attendeeCode: 'b', Name: 4 }, { attendeeCode: 'a' }],
  };

  it('refuses the whole batch if one registrant is invalid, and reports each with its position', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth('registrants?pigeonhole=101');
    const { status, body } = await sandbox.post(PATH, BATCH);
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 4500 });
    expect(fieldsOf(body)).toEqual([
      'data[1].attendeeCode',
      'data[2].attendeeCode',
      'data[3].Name',
      'data[4].attendeeCode',
    ]);
    expect(await sandbox.truth('registrants?pigeonhole=101')).toEqual(before);
  });

  it('creates the valid registrants with the knob "partial", and reports the others as configured', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.truth('registrants?pigeonhole=101');
    await sandbox.control('PATCH', 'knobs', { registrantAtomicity: 'partial', registrantErrors: 'named' });
    expect(fieldsOf((await sandbox.post(PATH, BATCH)).body)).toEqual([
      'attendeeCode',
      'attendeeCode',
      'Name',
      'attendeeCode',
    ]);
    await sandbox.control('PATCH', 'knobs', { registrantErrors: 'none' });
    expect((await sandbox.post(PATH, BATCH)).body['errors']).toEqual([]);
    const codes = (await sandbox.truth('registrants?pigeonhole=101'))
      .slice(before.length)
      .map((item) => item['attendeeCode']);
    expect(codes).toEqual(['a']);
  });

  it('refuses the code of an existing registrant, generated or created', async () => {
    const sandbox = await startTestSandbox();
    const [generated] = await sandbox.truth('registrants?pigeonhole=101');
    await sandbox.post(PATH, { data: [{ attendeeCode: 'mine' }] });
    for (const attendeeCode of [generated?.['attendeeCode'] ?? '', 'mine']) {
      expect(fieldsOf((await sandbox.post(PATH, { data: [{ attendeeCode }] })).body)).toEqual(['data[0].attendeeCode']);
    }
  });

  it('handles an existing code as configured', async () => {
    const sandbox = await startTestSandbox();
    const outcomeOf = async (registrantDuplicates: string): Promise<unknown> => {
      const code = `mine-${registrantDuplicates}`;
      await sandbox.control('PATCH', 'knobs', { registrantDuplicates });
      await sandbox.post(PATH, { data: [{ attendeeCode: code, Name: 'Before' }] });
      const data: JsonObject[] = [{ attendeeCode: `new-${code}` }, { attendeeCode: code, Name: 'After' }];
      const { status, body } = await sandbox.post(PATH, { data });
      const truth = await sandbox.truth('registrants?pigeonhole=101');
      const own = truth.filter((item) => textOf(item['attendeeCode']).endsWith(code));
      return { status, fields: status === 204 ? [] : fieldsOf(body), own: own.map((item) => item['Name'] ?? 'new') };
    };
    expect(await outcomeOf('refuse-row')).toEqual({ status: 422, fields: ['data[1].attendeeCode'], own: ['Before'] });
    expect(await outcomeOf('refuse-chunk')).toEqual({ status: 422, fields: ['data'], own: ['Before'] });
    expect(await outcomeOf('ignore')).toEqual({ status: 204, fields: [], own: ['Before', 'new'] });
    expect(await outcomeOf('upsert')).toEqual({ status: 204, fields: [], own: ['After', 'new'] });
  });

  it.each<['dotted' | 'from-one', string[]]>([
    ['dotted', ['data.1.attendeeCode', 'data.3.Name']],
    ['from-one', ['registrants[2].attendeeCode', 'registrants[4].Name']],
  ])('names bad registrants in the form %s', async (registrantErrors, fields) => {
    const sandbox = await startTestSandbox({ knobs: { registrantErrors } });
    const data: JsonObject[] = [
      { attendeeCode: 'a' },
      { attendeeCode: 5 },
      { attendeeCode: 'b' },
      { attendeeCode: 'c', Name: 4 },
    ];
    expect(fieldsOf((await sandbox.post(PATH, { data })).body)).toEqual(fields);
  });

  it('refuses a batch that is empty or larger than configured', async () => {
    const sandbox = await startTestSandbox({ knobs: { registrantMaxBatch: 2 } });
    for (const data of [[], ['a', 'b', 'c'].map((attendeeCode) => ({ attendeeCode }))]) {
      expect(fieldsOf((await sandbox.post(PATH, { data })).body)).toEqual(['data']);
    }
  });

  it('answers 4507 if registrants are disabled', async () => {
    const sandbox = await startTestSandbox({ registrants: false });
    expect((await sandbox.post(PATH, { data: [{ attendeeCode: 'a' }] })).body['code']).toBe(4507);
  });

  it('lets a registrant sign in as an attendee with the registrant’s id, code and profile', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.post(PATH, { data: [{ attendeeCode: '0042', Name: 'Ann Ng', Email: 'ann@example.com' }] });
    const signedIn = await sandbox.control('POST', 'sign-in', { pigeonhole: 101, attendeeCode: '0042' });
    const attendees = await sandbox.walk('/v2/pigeonholes/101/attendees');
    expect(attendees.find((attendee) => attendee['id'] === signedIn['attendeeId'])).toMatchObject({
      registrantId: signedIn['registrantId'],
      attendeeCode: '0042',
      Name: 'Ann Ng',
      Email: 'ann@example.com',
    });
  });
});
