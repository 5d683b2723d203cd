import { askLrs, aStatement, aVoiding, type LrsAnswer, type LrsTarget } from './lrs-client.test-kit.js';
import { DEFAULT_ACCOUNT, startLrsDouble, type LrsDouble, type LrsDoubleOptions } from './start-lrs-double.js';

let double: LrsDouble;
let nowMs: number;
const start = async (options: LrsDoubleOptions = {}): Promise<void> => {
  nowMs = Date.UTC(2026, 10, 21, 9);
  // The client of these tests speaks 1.0.3 by default; tests of 2.0 say so.
  double = await startLrsDouble({ now: () => nowMs, onViolation: 'record', versions: ['1.0.3'], ...options });
};
const target = (): LrsTarget => ({ endpoint: double.endpoint, ...DEFAULT_ACCOUNT });
const post = (body: unknown, as = target()): Promise<LrsAnswer> => askLrs(as, '/statements', { body });
const get = (statementId: string): Promise<LrsAnswer> => askLrs(target(), '/statements', { query: { statementId } });

afterEach(async () => {
  await double.close();
});

describe('the LRS double', () => {
  it('answers 413 to a body that is too large', async () => {
    await start({ maxBytes: 2000 });
    const large = aStatement({ result: { response: 'x'.repeat(2000) } });
    expect((await post([large])).status).toBe(413);
    expect((await post([aStatement()])).status).toBe(200);
    expect(double.state().statements).toHaveLength(1);
  });

  it('answers 403 if an account without the right voids statements', async () => {
    await start({ accounts: [{ ...DEFAULT_ACCOUNT, mayVoid: false }] });
    const statement = aStatement();
    expect((await post([statement, aVoiding(statement.id)])).status).toBe(403);
    expect(double.state().statements).toEqual([]);
  });

  it('refuses an account after it was revoked', async () => {
    await start();
    double.revoke(DEFAULT_ACCOUNT.username);
    expect((await post([aStatement()])).status).toBe(401);
  });

  it('refuses to void a statement that voids another', async () => {
    await start();
    const statement = aStatement();
    const voiding = aVoiding(statement.id);
    await post([statement, voiding]);
    expect((await post([aVoiding(voiding.id)])).status).toBe(400);
    expect(double.store.voiderOf(voiding.id)).toBeUndefined();
  });

  it('answers 409 to a known id with the option "repeats: conflict", even if the content is the same', async () => {
    await start({ repeats: 'conflict' });
    const statement = aStatement();
    await post([statement]);
    expect((await post([statement])).status).toBe(409);
  });

  it('makes statements readable only after the delay of "visibleAfterMs"', async () => {
    await start({ visibleAfterMs: 5000 });
    const statement = aStatement();
    await post([statement]);
    expect((await get(statement.id)).status).toBe(404);
    nowMs += 5001;
    expect((await get(statement.id)).status).toBe(200);
  });

  it('refuses two components of an interaction with one id', async () => {
    await start();
    const definition = { interactionType: 'choice', choices: [{ id: 'a' }, { id: 'a' }] };
    expect((await post(aStatement({ object: { id: 'https://example.com/1', definition } }))).status).toBe(400);
  });
});

describe('the LRS double as a new account has it', () => {
  it('supports and reports only xAPI 2.0', async () => {
    await start({ versions: ['2.0.0'] });
    const about = await askLrs(target(), '/about', { headers: { 'x-experience-api-version': undefined } });
    expect(about).toMatchObject({ status: 200, body: { version: ['2.0.0'] } });
    expect((await post([aStatement()])).status).toBe(400);
    const statement = aStatement();
    const stored = await post([statement], { ...target(), version: '2.0.0' });
    expect([stored.status, stored.headers.get('x-experience-api-version')]).toEqual([200, '2.0.0']);
    expect(double.state().statements).toMatchObject([{ id: statement.id, version: '2.0.0' }]);
  });

  it('may accept both versions: a statement gets the version of its request', async () => {
    await start({ versions: ['1.0.3', '2.0.0'] });
    for (const version of ['1.0.3', '2.0.0']) {
      const stored = await post([aStatement()], { ...target(), version });
      expect([stored.status, stored.headers.get('x-experience-api-version')]).toEqual([200, version]);
    }
    expect(double.state().statements.map(({ version }) => version)).toEqual(['1.0.0', '2.0.0']);
  });

  it('issues a token for client credentials, and accepts it until it is withdrawn', async () => {
    await start();
    const { username: client_id, password: client_secret } = DEFAULT_ACCOUNT;
    const ask = async (form: Record<string, string>) => {
      const answer = await fetch(double.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    };
    expect(await ask({ grant_type: 'password' })).toMatchObject({ status: 400 });
    const wrong = { grant_type: 'client_credentials', client_id, client_secret: 'other' };
    expect(await ask(wrong)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const { body } = await ask({ ...wrong, client_secret });
    const headers = { authorization: `Bearer ${body['access_token']}` };
    const send = () => askLrs(target(), '/statements', { body: [aStatement()], headers });
    expect((await send()).status).toBe(200);
    double.expireTokens();
    expect((await send()).status).toBe(401);
  });
});

describe('another statement with a known id in the LRS double', () => {
  const statement = aStatement({
    actor: {
      objectType: 'Group',
      name: 'G',
      member: [{ mbox: 'mailto:a@example.com' }, { mbox: 'mailto:b@example.com' }],
    },
    result: { duration: 'PT60S' },
  });
  const cases: [string, 'same' | 'other', object][] = [
    ['another display of the verb', 'same', { verb: { id: 'http://adlnet.gov/expapi/verbs/asked' } }],
    [
      'another definition of the activity',
      'same',
      { object: { id: 'https://example.com/questions/1', objectType: 'Activity' } },
    ],
    ['the same instant in another zone', 'same', { timestamp: '2026-11-21T10:00:00+01:00' }],
    ['no timestamp', 'same', { timestamp: undefined }],
    [
      'another order of members',
      'same',
      {
        actor: {
          objectType: 'Group',
          name: 'G',
          member: [{ mbox: 'mailto:B@example.com' }, { mbox: 'mailto:a@example.com' }],
        },
      },
    ],
    ['another instant', 'other', { timestamp: '2026-11-21T09:00:01Z' }],
    ['another verb', 'other', { verb: { id: 'http://adlnet.gov/expapi/verbs/answered' } }],
    ['another activity', 'other', { object: { id: 'https://example.com/questions/2' } }],
    ['the same duration in other words', 'other', { result: { duration: 'PT1M' } }],
  ];

  it.each(cases)('with %s counts as %s according to the specification', async (_, verdict, changes) => {
    await start({ comparison: 'specification' });
    await post([statement]);
    expect((await post([{ ...statement, ...changes }])).status).toBe(verdict === 'same' ? 200 : 409);
  });

  it.each(cases)('with %s is different if the LRS compares exactly', async (_, __, changes) => {
    await start({ comparison: 'exact' });
    await post([statement]);
    expect((await post([{ ...statement, ...changes }])).status).toBe(409);
  });
});

describe('a fault of the LRS double', () => {
  const order = (fault: object): Promise<Response> =>
    fetch(`${double.url}/_double/faults`, { method: 'POST', body: JSON.stringify(fault) });

  it.each([
    ['unavailable', 503, 0],
    ['unavailable-after', 503, 1],
    ['too-many', 429, 0],
    ['bad-gateway-after', 502, 1],
  ])('%s answers %i with %i statements stored', async (fault, status, stored) => {
    await start();
    await order({ fault, path: '/statements' });
    expect((await post([aStatement()])).status).toBe(status);
    expect(double.state().statements).toHaveLength(stored);
  });

  it('that loses the answer leaves the statement stored, and a repeat harmless', async () => {
    await start();
    await order({ fault: 'dropAfter' });
    const statement = aStatement();
    await expect(post([statement])).rejects.toThrow();
    expect((await post([statement])).status).toBe(200);
    expect(double.state().statements).toHaveLength(1);
  });
});

describe('the page of the LRS double', () => {
  it('shows statements as sentences, and strikes through voided ones', async () => {
    await start();
    const statement = aStatement({ actor: { name: '<Ada>', account: { homePage: 'https://example.com', name: 'A' } } });
    await post([statement, aVoiding(statement.id)]);
    const html = await (await fetch(double.url)).text();
    expect(html).toContain(`<tr class="voided" title="${statement.id}">`);
    expect(html).toContain('<td>&lt;Ada&gt;</td><td>asked</td><td>A question</td>');
  });
});
