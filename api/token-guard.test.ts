import { Secret } from '../config/secret.js';
import { anyStore, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { auditEntries } from '../ledger/audit.js';
import { addToken } from '../ledger/tokens.js';
import { apiSources, emptyConfig, emptyLedger } from './api-sources.test-kit.js';
import type { Caller } from './authenticate.js';
import { TokenGuard } from './token-guard.js';
import { BoundedNotes } from './audit-log.js';
import { addressGroup } from './listen.js';
import { ProcessMeters } from './metrics/serve-metrics.js';
import { type ApiServer, startApi } from './start-api.js';
import { hashToken, makeToken } from './credentials.js';
import { addPageSession } from '../ledger/page-sessions.js';

const databases = useBothDatabases({ only: anyStore });
const serverToken = 'a-token-of-the-server-0123456789';
const open: ApiServer[] = [];
// The guard's clock is stopped, so that no wait ends between two requests, however long they take.
beforeEach(() => jest.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterEach(async () => {
  jest.restoreAllMocks();
  for (const api of open.splice(0)) await api.close();
});

interface Served {
  readonly url: string;
  readonly ledger: Ledger;
  readonly meters: ProcessMeters;
}

async function served(): Promise<Served> {
  const ledger = await openLedger(databases.of(anyStore), testKey);
  const meters = new ProcessMeters({ withNode: false });
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  const config = emptyConfig({ host: '127.0.0.1', port: 0, token: new Secret(serverToken) });
  api.serve(apiSources({ ledger, config, meters }));
  return { url: api.url, ledger, meters };
}

async function ask({ url }: Served, token: string, path = '/api/caller'): Promise<Response> {
  return await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
}

const everything = { who: null, action: null, target: null };
const newest = { before: null, limit: 500 };

describe('guesses of a token', () => {
  it('are delayed after eleven, counted, and recorded in the audit log without the guessed token', async () => {
    const here = await served();
    const statuses: number[] = [];
    for (let n = 0; n < 20; n += 1) statuses.push((await ask(here, `guess-${n}`)).status);
    expect(statuses).toEqual([...Array(11).fill(401), ...Array(9).fill(429)]);
    const last = await ask(here, 'guess-again');
    expect([last.status, Number(last.headers.get('retry-after')) > 0]).toEqual([429, true]);

    const text = await here.meters.text();
    const count = (reason: string): number =>
      Number(new RegExp(`pigeonpost_api_refused_tokens_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1]);
    expect(count('unknown') + count('waiting')).toBe(21);
    const entries = await auditEntries(here.ledger, { ...everything, action: 'present-wrong-token' }, newest);
    expect(entries.map(({ who, outcome, status, detail }) => [who, outcome, status, detail])).toEqual([
      ['unknown', 'refused', 401, { address: '127.0.0.1', attempts: 11, waits: true }],
      ['unknown', 'refused', 401, { address: '127.0.0.1', attempts: 1, waits: false }],
    ]);
    expect(JSON.stringify(entries)).not.toContain('guess-');
  });

  it('are limited together if they arrive together', async () => {
    const here = await served();
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => (await ask(here, `guess-together-${n}`)).status),
    );
    expect(answers.filter((status) => status === 401)).toHaveLength(11);
  });

  it('block neither a token that was accepted before nor what nobody can guess: named tokens and sessions', async () => {
    const here = await served();
    const { id, hash, text } = makeToken();
    const about = { name: `late-${id}`, roles: ['viewer'], workspace: null, createdBy: 'local', expiresAt: null };
    await addToken(here.ledger, { id, hash, ...about });
    const session = `pps_${'s'.repeat(43)}`;
    const under = here.ledger.hash.fingerprint(serverToken);
    await addPageSession(here.ledger, { hash: hashToken(session), holder: id, under, lastsSeconds: 60 });
    expect((await ask(here, serverToken)).status).toBe(200);
    for (let n = 0, status = 401; status !== 429; n += 1) ({ status } = await ask(here, `guess-to-block-${n}`));
    expect((await ask(here, serverToken)).status).toBe(200);
    expect((await ask(here, text)).status).toBe(200);
    const cookie = `pigeonpost-${new URL(here.url).port}=${session}`;
    expect((await fetch(`${here.url}/api/caller`, { headers: { cookie } })).status).toBe(200);
  });

  it('of named tokens are refused and counted, however many there are', async () => {
    const here = await served();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await ask(here, makeToken().text)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await here.meters.text()).toMatch(/^pigeonpost_api_refused_tokens_total\{reason="unknown"\} 40$/m);
  });

  it('do not include repeated requests with the same invalid token', async () => {
    const here = await served();
    for (let n = 0; n < 30; n += 1) expect((await ask(here, 'the-same-old-token')).status).toBe(401);
    expect((await ask(here, serverToken)).status).toBe(200);
  });

  it('do not include tokens that could not be looked up', async () => {
    const guard = new TokenGuard({ ledger: emptyLedger(), meters: new ProcessMeters({ withNode: false }) });
    const present = (presented: string, find: () => Promise<Caller>) =>
      guard.caller({ address: '10.0.0.1', presented, requestId: 'a-request' }, find);
    const lost = new Error('the store does not answer');
    for (let n = 0; n < 30; n += 1) {
      await expect(present(`token-${n}`, () => Promise.reject(lost))).rejects.toBe(lost);
    }
    const caller = { name: 'one', token: null, roles: [], rights: new Set<never>(), workspace: null };
    expect(await present('token-30', async () => caller)).toBe(caller);
  });

  it('do not include the cookies of other programs on this host', async () => {
    const here = await served();
    for (let n = 0; n < 30; n += 1) {
      const answer = await fetch(`${here.url}/api/caller`, { headers: { cookie: `another-program=${n}` } });
      expect(answer.status).toBe(401);
    }
    expect((await ask(here, serverToken)).status).toBe(200);
  });
});

describe('a request that a token may not make', () => {
  it('is recorded once in the audit log, however often it is repeated', async () => {
    const here = await served();
    const { id, hash, text } = makeToken();
    const about = { name: `curious-${id}`, roles: ['viewer'], workspace: null, createdBy: 'local', expiresAt: null };
    await addToken(here.ledger, { id, hash, ...about });
    for (let n = 0; n < 50; n += 1) expect((await ask(here, text, '/api/tokens')).status).toBe(403);
    const entries = await auditEntries(here.ledger, { ...everything, who: `curious-${id}` }, newest);
    expect(entries).toHaveLength(1);
  });

  it('leads to at most 120 lines per hour', () => {
    let now = 0;
    const notes = new BoundedNotes(() => now);
    const taken = (): number => Array.from({ length: 1000 }, (_, n) => notes.take(`kind ${n}`)).filter(Boolean).length;
    expect([taken(), taken()]).toEqual([120, 0]);
    now = 3_600_000;
    expect(taken()).toBe(120);
  });
});

describe('the group of an IP address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['::1', '::1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });
});
