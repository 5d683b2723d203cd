import { generateKeyPairSync } from 'node:crypto';
import { callDouble } from '../serve/call-double.test-kit.js';
import { closeDoubles, NOW_MS, requestToken, salesforce } from './salesforce-client.test-kit.js';
import { ownKeyPair } from './salesforce-org.js';
import { startSalesforceDouble, salesforceFaults } from './start-salesforce-double.js';

/** A request without an effect. */
const DESCRIBE = '/sobjects/Lead/describe';

afterEach(closeDoubles);

describe('a token', () => {
  const seconds = NOW_MS / 1000;

  it('is issued for a valid assertion, with the address of the instance', async () => {
    const { double } = await salesforce({ instanceUrl: 'https://acme.my.salesforce.com' });
    const { status, json } = await requestToken(double, { aud: 'https://acme.my.salesforce.com' });
    expect([status, json.instance_url, json.token_type]).toEqual([200, 'https://acme.my.salesforce.com', 'Bearer']);
  });

  it.each([
    ['another client', { iss: 'other' }, undefined, 'invalid_client_id'],
    ['another audience', { aud: 'https://acme.my.salesforce.com' }, undefined, 'invalid_grant'],
    ['the login host as audience', { aud: 'https://login.salesforce.com' }, undefined, 'app_not_found'],
    ['the login host of sandboxes as audience', { aud: 'https://test.salesforce.com' }, undefined, 'app_not_found'],
    ['a user who may not use the app', { sub: 'other@example.com' }, undefined, 'invalid_app_access'],
    ['an expiry in the past', { exp: seconds }, undefined, 'invalid_grant'],
    ['an expiry in more than three minutes', { exp: seconds + 181 }, undefined, 'invalid_grant'],
    ['an expiry in milliseconds', { exp: NOW_MS + 120_000 }, undefined, 'invalid_grant'],
    ['another algorithm', {}, { alg: 'HS256' }, 'invalid_grant'],
  ])('is refused for %s', async (_name, claims, header, error) => {
    const { double } = await salesforce();
    const answer = await requestToken(double, claims, header);
    expect([answer.status, answer.json.error]).toEqual([400, error]);
  });

  it.each([
    [false, 'https://login.salesforce.com', 'https://test.salesforce.com'],
    [true, 'https://test.salesforce.com', 'https://login.salesforce.com'],
  ])('of a connected app (sandbox: %s) is issued only for %s as audience', async (sandbox, right, wrong) => {
    const double = await startSalesforceDouble({ app: 'connected', sandbox, now: () => NOW_MS });
    const answers = [];
    for (const aud of [right, wrong, double.url]) answers.push(await requestToken(double, { aud }));
    await double.close();
    expect(answers.map(({ status, json }) => json.error ?? status)).toEqual([200, 'invalid_grant', 'invalid_grant']);
  });

  it('is issued for the credentials of the app in the form or in the header', async () => {
    const { double } = await salesforce();
    const login = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields });
      return (await fetch(`${double.url}/services/oauth2/token`, { method: 'POST', body, headers })).status;
    };
    const right = { client_id: 'salesforce-client', client_secret: 'salesforce-secret' };
    const basic = `Basic ${Buffer.from('salesforce-client:salesforce-secret').toString('base64')}`;
    expect([
      await login(right),
      await login({}, { authorization: basic }),
      await login({ ...right, client_secret: 'other' }),
      await login({ ...right, username: 'integration@example.com' }),
    ]).toEqual([200, 200, 400, 400]);
  });

  it('is refused if another key than the app’s signed the assertion', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const double = await startSalesforceDouble({
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    });
    const answer = await requestToken(double, {}, undefined, ownKeyPair().privateKey);
    await double.close();
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant']);
  });
});

describe('a session', () => {
  it('is refused with 401 after it expired or was ended', async () => {
    let nowMs = NOW_MS;
    const { double, call } = await salesforce({ now: () => nowMs, sessionSeconds: 60 });
    const open = await call(DESCRIBE);
    nowMs += 60_000;
    const over = await call(DESCRIBE);
    const token = (await requestToken(double)).json.access_token;
    double.org.sessions.endAll();
    const ended = await callDouble(`${double.url}/services/data/v60.0${DESCRIBE}`, { token });
    expect([open.status, over.status, ended.status]).toEqual([200, 401, 401]);
    expect(ended.json).toEqual([{ message: 'Session expired or invalid', errorCode: 'INVALID_SESSION_ID' }]);
  });

  it('is refused with 403 after the allowed requests of 24 hours are used up', async () => {
    let nowMs = NOW_MS;
    const { call } = await salesforce({ now: () => nowMs, dailyRequests: 2, sessionSeconds: 200_000 });
    const first = await call(DESCRIBE);
    nowMs += 3_600_000;
    await call(DESCRIBE);
    const refused = await call(DESCRIBE);
    nowMs += 82_800_000;
    expect(first.headers.get('Sforce-Limit-Info')).toBe('api-usage=1/2');
    expect([refused.status, refused.json[0].errorCode]).toEqual([403, 'REQUEST_LIMIT_EXCEEDED']);
    expect([(await call(DESCRIBE)).status, (await call(DESCRIBE)).status]).toEqual([200, 403]);
  });
});

describe('a fault', () => {
  it.each([
    ['sessionExpired', 401, 'INVALID_SESSION_ID'],
    ['dailyLimit', 403, 'REQUEST_LIMIT_EXCEEDED'],
    ['unavailable', 503, 'SERVER_UNAVAILABLE'],
    ['lockedRow', 400, 'UNABLE_TO_LOCK_ROW'],
    ['retiredVersion', 410, 'UNSUPPORTED_API_VERSION'],
  ])('%s answers %i with %s, once', async (name, status, code) => {
    const { double, call } = await salesforce();
    double.faults.add({ effect: salesforceFaults[name]!, path: DESCRIBE });
    const befallen = await call(DESCRIBE);
    expect([befallen.status, befallen.json[0].errorCode]).toEqual([status, code]);
    expect((await call(DESCRIBE)).status).toBe(200);
  });
});

describe('an address', () => {
  it('of an unknown version, object or method is refused', async () => {
    const { double, call } = await salesforce();
    const token = (await requestToken(double)).json.access_token;
    const old = await callDouble(`${double.url}/services/data/v40.0${DESCRIBE}`, { token });
    const statuses = [old, await call('/sobjects/Nothing/describe'), await call(DESCRIBE, {}, 'POST')];
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 405]);
  });

  it('of more than 16 KiB is refused with 414', async () => {
    const { query } = await salesforce();
    const answer = await query(`SELECT Id FROM Lead WHERE Email = '${'a'.repeat(16_400)}'`);
    expect(answer.status).toBe(414);
  });
});
