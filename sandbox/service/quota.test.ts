import { closeSandboxes, startTestSandbox } from '../sandbox-client.test-kit.js';
import { Quota } from './quota.js';

afterEach(closeSandboxes);

const LIMITS = { limit: 2, windowSeconds: 60, headers: true, retryAfter: true };

describe('the quota', () => {
  it('counts down in headers, and answers 429 with 8000 when it is used up', async () => {
    const sandbox = await startTestSandbox({ quota: LIMITS });
    const answers = [];
    const askedAtMs = Date.now();
    for (let request = 0; request < 3; request += 1) answers.push(await sandbox.get('/v2/pigeonholes'));

    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['1', '0', '0']);
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBe('2');
    expect(answers[2]).toMatchObject({ status: 429, body: { code: 8000 } });
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
    const resetsAtMs = Number(answers[2]?.headers.get('x-ratelimit-reset')) * 1000;
    expect(resetsAtMs - askedAtMs).toBeGreaterThan(59_000);
    expect(resetsAtMs - Date.now()).toBeLessThanOrEqual(61_000);
  });

  it('is not reduced by a request with a wrong key', async () => {
    const sandbox = await startTestSandbox({ quota: LIMITS });
    await sandbox.get('/v2/pigeonholes', { 'X-API-KEY': 'wrong' });
    expect((await sandbox.control('GET', 'state'))['quotaUsed']).toBe(0);
  });

  it('can omit its headers, and is available again after a reset', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('PATCH', 'knobs', { quota: { limit: 1, windowSeconds: 60, headers: false } });
    const first = await sandbox.get('/v2/pigeonholes');
    expect([...first.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect((await sandbox.get('/v2/pigeonholes')).status).toBe(429);
    await sandbox.control('DELETE', 'quota');
    expect((await sandbox.get('/v2/pigeonholes')).status).toBe(200);
  });

  it('is counted per key, and a new window starts after the end of the last', () => {
    const quota = new Quota();
    const spend = (key: string, atMs: number): boolean => quota.spend(key, { ...LIMITS, limit: 1 }, atMs).exceeded;
    expect([spend('a', 0), spend('a', 59_999), spend('b', 59_999), spend('a', 60_000)]).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('has used nothing of a window that is over', () => {
    const quota = new Quota();
    quota.spend('a', LIMITS, 0);
    quota.spend('b', LIMITS, 30_000);
    expect([quota.used(59_999), quota.used(60_000), quota.used(90_000)]).toEqual([2, 1, 0]);
  });
});
