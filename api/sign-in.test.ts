import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { addToken, revokeToken } from '../ledger/tokens.js';
import { apiSources, asLocalUser, emptyConfig, fromHere } from './api-sources.test-kit.js';
import type { ApiApp } from './api-app.js';
import { createApp } from './create-app.js';
import { PageCodes } from './serve-page.js';
import type { Role } from './authenticate.js';
import { makeToken } from './credentials.js';

const databases = useBothDatabases();
const start = Date.parse('2026-11-22T09:00:00Z');
const minuteMs = 60_000;

let ledger: Ledger;
let nowMs: number;
let pageCodes: PageCodes;
beforeEach(async () => {
  ledger = await openLedger(databases.of('embedded'), testKey);
  await ledger.db.script('truncate tokens, audit');
  nowMs = start;
  pageCodes = new PageCodes(() => nowMs);
});

function appAt(server: Partial<Config['server']> = {}): ApiApp {
  const config = emptyConfig({ host: '127.0.0.1', port: 8088, ...server } as Config['server']);
  return createApp(
    apiSources({
      ledger,
      config,
      pageCodes,
      page: new Map([
        ['/', { type: 'text/html', bytes: new Uint8Array(), zipped: new Uint8Array(), tag: '"1"', lasting: false }],
      ]),
    }),
  );
}

async function codeOf(app: ApiApp, headers: Record<string, string> = asLocalUser): Promise<string> {
  const answer = await app.request('/api/page-codes', { method: 'POST', headers, body: '{}' });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { code: string }).code;
}

interface Opened {
  readonly status: number;
  readonly leadsTo: string | null;
  /** The cookie as a browser sends it back. */
  readonly cookie: string | null;
  readonly attributes: readonly string[];
}

async function openLink(app: ApiApp, code: string, headers: Record<string, string> = {}): Promise<Opened> {
  const answer = await app.request(`/?code=${code}`, { headers: { host: '127.0.0.1:8088', ...headers } });
  const [cookie = null, ...attributes] = answer.headers.get('set-cookie')?.split('; ') ?? [];
  return { status: answer.status, leadsTo: answer.headers.get('location'), cookie, attributes };
}

async function callerWith(app: ApiApp, cookie: string | null, headers: Record<string, string> = {}) {
  const sent = { host: '127.0.0.1:8088', ...(cookie === null ? {} : { cookie }), ...headers };
  const answer = await app.request('/api/caller', { headers: sent });
  return { status: answer.status, name: ((await answer.json()) as { name?: string }).name };
}

async function tokenWith(name: string, roles: readonly Role[]): Promise<string> {
  const { id, hash, text } = makeToken();
  await addToken(ledger, { id, name, hash, roles, workspace: null, createdBy: 'a test', expiresAt: null });
  return text;
}

describe('a link to the page', () => {
  it('signs the browser in as the user who requested the link, and redirects to an address without the code', async () => {
    const app = appAt();
    const opened = await openLink(app, await codeOf(app));
    expect(opened).toMatchObject({ status: 303, leadsTo: './' });
    expect(opened.cookie).toMatch(/^pigeonpost-8088=pps_/);
    expect(opened.attributes).toEqual(['Path=/', 'Max-Age=86400', 'HttpOnly', 'SameSite=Strict']);
    expect(await callerWith(app, opened.cookie)).toEqual({ status: 200, name: 'local' });
    expect(await callerWith(app, null)).toMatchObject({ status: 401 });
  });

  it('works once', async () => {
    const app = appAt();
    const code = await codeOf(app);
    const { cookie } = await openLink(app, code);
    expect(await openLink(app, code)).toEqual({ status: 401, leadsTo: null, cookie: null, attributes: [] });
    // A browser that is already signed in is still redirected to the page.
    expect(await openLink(app, code, { cookie: cookie! })).toMatchObject({ status: 303, cookie: null });
  });

  it('is valid for ten minutes', async () => {
    const app = appAt();
    const codes = [await codeOf(app), await codeOf(app)];
    nowMs += 10 * minuteMs - 1;
    expect(await openLink(app, codes[0]!)).toMatchObject({ status: 303 });
    nowMs += 1;
    expect(await openLink(app, codes[1]!)).toMatchObject({ status: 401, cookie: null });
  });

  it.each(['', 'ppc_guess', '%00', `ppc_${'A'.repeat(24)}`])('with the code "%s" signs nobody in', async (code) => {
    expect(await openLink(appAt(), code)).toMatchObject({ status: 401, cookie: null });
  });

  it('has the rights of its token, and ends when the token is revoked', async () => {
    const app = appAt();
    const viewer = await tokenWith('desk', ['viewer']);
    const { cookie } = await openLink(app, await codeOf(app, { ...fromHere, authorization: `Bearer ${viewer}` }));
    expect(await callerWith(app, cookie)).toEqual({ status: 200, name: 'desk' });
    const headers = { host: '127.0.0.1:8088', 'content-type': 'application/json', cookie: cookie! };
    const body = JSON.stringify({ do: 'pause', kind: 'sink', name: 'hooks' });
    expect((await app.request('/api/actions', { method: 'POST', headers, body })).status).toBe(403);
    await revokeToken(ledger, 'desk');
    expect(await callerWith(app, cookie)).toMatchObject({ status: 401 });
  });

  it('cannot be created without a token, and its creation and its use are in the audit log', async () => {
    const app = appAt();
    const refused = await app.request('/api/page-codes', { method: 'POST', headers: fromHere, body: '{}' });
    expect(refused.status).toBe(401);
    const code = await codeOf(app);
    const { cookie } = await openLink(app, code);
    const rows = await ledger.db.query<{ who: string; action: string }>(
      'select who, action, detail::text as detail from audit order by number',
    );
    expect(rows.map(({ who, action }) => `${who} ${action}`)).toEqual([
      'local create-page-code',
      'null null', // the entry with the result
      'local sign-in',
      'null null',
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/pp[cs]_/);
    expect(JSON.stringify(rows)).not.toContain(cookie!.slice(20));
  });
});

describe('a session of the page', () => {
  it('lasts a day, even across a restart', async () => {
    const clock = jest.spyOn(ledger.clock, 'nowMs').mockReturnValue(start);
    const { cookie } = await openLink(appAt(), await codeOf(appAt()));
    clock.mockReturnValue(start + 24 * 60 * minuteMs - 1000);
    expect(await callerWith(appAt(), cookie)).toMatchObject({ status: 200 });
    clock.mockReturnValue(start + 24 * 60 * minuteMs);
    expect(await callerWith(appAt(), cookie)).toMatchObject({ status: 401 });
  });

  it('ends when the administrator’s token changes', async () => {
    const { cookie } = await openLink(appAt(), await codeOf(appAt()));
    expect(await callerWith(appAt({ token: new Secret('another-token') }), cookie)).toMatchObject({ status: 401 });
  });

  it('is rejected if its cookie was altered', async () => {
    const app = appAt();
    const viewer = await tokenWith('desk', ['viewer']);
    const { cookie } = await openLink(app, await codeOf(app, { ...fromHere, authorization: `Bearer ${viewer}` }));
    const [, holder, until, mac] = /pps_(\w+)\.(\d+)\.(\S+)$/.exec(cookie!)!;
    for (const text of [
      `pps_admin.${until}.${mac}`,
      `pps_${holder}.${Number(until) + 1}.${mac}`,
      `pps_${holder}.${until}.${'A'.repeat(43)}`,
      'pps_',
      '',
    ]) {
      expect(await callerWith(app, `pigeonpost-8088=${text}`)).toMatchObject({ status: 401 });
    }
  });

  it.each(['cross-site', 'same-site'])(
    'is refused in a request that a page of another origin makes: %s',
    async (site) => {
      const app = appAt();
      const { cookie } = await openLink(app, await codeOf(app));
      expect(await callerWith(app, cookie, { 'sec-fetch-site': site })).toMatchObject({ status: 403 });
      expect(await callerWith(app, cookie, { 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 200 });
    },
  );

  it('is restricted to HTTPS and one host if the public address uses HTTPS', async () => {
    const app = appAt({ publicUrl: 'https://desk.example.com' });
    const host = { host: 'desk.example.com' };
    const opened = await openLink(app, await codeOf(app), host);
    expect(opened.cookie).toMatch(/^__Host-pigeonpost=pps_/);
    expect(opened.attributes).toContain('Secure');
    expect(await callerWith(app, opened.cookie, host)).toMatchObject({ status: 200 });
  });

  it('is independent of sessions of other installations on the same host', async () => {
    const app = appAt();
    const { cookie } = await openLink(app, await codeOf(app));
    expect(await callerWith(app, `pigeonpost-9000=pps_other; ${cookie}`)).toMatchObject({ status: 200 });
    expect(await callerWith(app, cookie, { host: '127.0.0.1:9000' })).toMatchObject({ status: 401 });
  });
});
