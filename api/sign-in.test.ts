import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { anyStore, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { addToken, revokeToken } from '../ledger/tokens.js';
import { apiSources, asLocalUser, emptyConfig, fromHere } from './api-sources.test-kit.js';
import type { ApiApp } from './api-app.js';
import { createApp } from './create-app.js';
import { PageCodes } from './page-codes.js';
import type { Role } from './authenticate.js';
import { makeToken } from './credentials.js';

const databases = useBothDatabases({ only: anyStore });
const start = Date.parse('2026-11-22T09:00:00Z');
const minuteMs = 60_000;

let ledger: Ledger;
let nowMs: number;
let pageCodes: PageCodes;
beforeEach(async () => {
  ledger = await openLedger(databases.of(anyStore), testKey);
  await ledger.db.script('truncate tokens, audit, page_sessions');
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

const here = { host: '127.0.0.1:8088' };

/** Opens a link, as a browser or the preview of a chat does. */
async function look(app: ApiApp, code: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await app.request(`/?code=${code}`, { method, headers: { ...here, ...headers } });
  const text = await answer.text();
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
  const [cookie = null] = answer.headers.get('set-cookie')?.split('; ') ?? [];
  return {
    status: answer.status,
    leadsTo: answer.headers.get('location'),
    cookie,
    text,
    headers: answer.headers,
    form: new URLSearchParams({ code: field('code'), nonce: field('nonce') }),
  };
}

/** Sends the form of the confirmation page. */
async function sendForm(app: ApiApp, form: URLSearchParams, headers: Record<string, string>): Promise<Opened> {
  const { host = here.host } = headers;
  const answer = await app.request('/sign-in', {
    method: 'POST',
    headers: { ...here, origin: `http://${host}`, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: form.toString(),
  });
  const session = answer.headers.getSetCookie().find((cookie) => cookie.includes('=pps_'));
  const [cookie = null, ...attributes] = session?.split('; ') ?? [];
  return { status: answer.status, leadsTo: answer.headers.get('location'), cookie, attributes };
}

/** Opens a link, and selects the button of the confirmation page. */
async function openLink(app: ApiApp, code: string, headers: Record<string, string> = {}): Promise<Opened> {
  const page = await look(app, code, headers);
  if (page.status !== 200) return { status: page.status, leadsTo: page.leadsTo, cookie: null, attributes: [] };
  const cookies = [headers['cookie'], page.cookie].filter(Boolean).join('; ');
  return await sendForm(app, page.form, { ...headers, cookie: cookies });
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
  it('first shows who would be signed in, in a page that runs no script and appears in no frame', async () => {
    const app = appAt();
    const text = await tokenWith('desk', ['viewer', 'importer']);
    const page = await look(app, await codeOf(app, { ...fromHere, authorization: `Bearer ${text}` }));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Sign in as desk</button>');
    expect(page.text).toContain('<dd>viewer, importer</dd>');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.cookie).not.toContain('pps_');
    expect(await callerWith(app, page.cookie)).toMatchObject({ status: 401 });
  });

  it.each(['HEAD', 'GET'])(
    'is not used up by a preview with %s, which leaves nothing in the audit log',
    async (method) => {
      const app = appAt();
      const code = await codeOf(app);
      await ledger.db.script('truncate audit');
      for (let n = 0; n < 3; n += 1) expect(await look(app, code, {}, method)).toMatchObject({ status: 200 });
      expect(await ledger.db.query('select 1 from audit')).toEqual([]);
      expect(await openLink(app, code)).toMatchObject({ status: 303 });
    },
  );

  it('signs in only by the form of its own page, in the browser to which it was shown', async () => {
    const app = appAt();
    const code = await codeOf(app);
    const { form, cookie } = await look(app, code);
    const other = await look(app, code);
    const sent = { cookie: cookie! };
    for (const [headers, given, status] of [
      [{ ...sent, origin: 'https://page.example' }, form, 403],
      [{ ...sent, origin: 'http://127.0.0.1:9999' }, form, 403],
      [{ ...sent, origin: 'null' }, form, 403],
      [{ ...sent, 'sec-fetch-site': 'cross-site' }, form, 403],
      [{ ...sent, host: 'rebound.example', origin: 'http://rebound.example' }, form, 421],
      [{ ...sent, 'content-type': 'text/plain' }, form, 415],
      [{}, form, 403], // a browser that never opened the link
      [sent, other.form, 403], // a page that was shown elsewhere
      [sent, new URLSearchParams({ code }), 403],
      [{ cookie: `${cookie}; ${other.cookie}` }, form, 403], // a stranger set a second cookie
    ] as const) {
      expect(await sendForm(app, given, headers)).toMatchObject({ status, cookie: null });
    }
    expect(await sendForm(app, form, sent)).toMatchObject({ status: 303 });
  });

  it('says whose session ends if the browser is signed in already, and ends it', async () => {
    const app = appAt();
    const { cookie } = await openLink(app, await codeOf(app));
    const text = await tokenWith('desk', ['viewer']);
    const code = await codeOf(app, { ...fromHere, authorization: `Bearer ${text}` });
    expect((await look(app, code, { cookie: cookie! })).text).toContain('signed in as <b>administrator</b>');
    const next = await openLink(app, code, { cookie: cookie! });
    expect(await callerWith(app, next.cookie)).toEqual({ status: 200, name: 'desk' });
    expect(await callerWith(app, cookie)).toMatchObject({ status: 401 });
  });

  it('stays valid however many links another token creates', async () => {
    const app = appAt();
    const code = await codeOf(app);
    const viewer = await tokenWith('desk', ['viewer']);
    const codes = [];
    for (let n = 0; n < 110; n += 1) codes.push(await codeOf(app, { ...fromHere, authorization: `Bearer ${viewer}` }));
    expect(await look(app, code)).toMatchObject({ status: 200 });
    expect(await look(app, codes.at(-1)!)).toMatchObject({ status: 200 });
    expect(await look(app, codes[0]!)).toMatchObject({ status: 401 });
  });

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
    const { cookie } = await openLink(appAt(), await codeOf(appAt()));
    const pass = async (interval: string): Promise<void> =>
      await ledger.db.script(`update page_sessions set expires_at = expires_at - interval '${interval}'`);
    await pass('23 hours 59 minutes');
    expect(await callerWith(appAt(), cookie)).toMatchObject({ status: 200 });
    await pass('1 minute');
    expect(await callerWith(appAt(), cookie)).toMatchObject({ status: 401 });
    await openLink(appAt(), await codeOf(appAt()));
    expect(await ledger.db.query('select 1 from page_sessions')).toHaveLength(1); // the ended one was removed
  });

  it('ends when the administrator’s token changes', async () => {
    const { cookie } = await openLink(appAt(), await codeOf(appAt()));
    expect(await callerWith(appAt({ token: new Secret('another-token') }), cookie)).toMatchObject({ status: 401 });
  });

  it('is random, so that it reveals nothing about the token, and the ledger does not contain it', async () => {
    const app = appAt({ token: new Secret('a-token-that-was-chosen') });
    const cookies = [await openLink(app, await codeOf(app)), await openLink(app, await codeOf(app))].map(
      (each) => each.cookie!,
    );
    expect(new Set(cookies).size).toBe(2);
    const rows = JSON.stringify(await ledger.db.query(`select hash::text, holder, under from page_sessions`));
    for (const cookie of cookies) {
      const text = /pps_(\S+)$/.exec(cookie)![1]!;
      expect(Buffer.from(text, 'base64url')).toHaveLength(32);
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(Buffer.from(text, 'base64url').toString('hex'));
      expect(await callerWith(app, `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`)).toMatchObject({
        status: 401,
      });
    }
  });

  it.each(['pps_', '', 'pps_admin', `pps_${'A'.repeat(43)}`])('is not "%s"', async (text) => {
    expect(await callerWith(appAt(), `pigeonpost-8088=${text}`)).toMatchObject({ status: 401 });
  });

  it('ends on the server when the person signs out, and the browser forgets it', async () => {
    const app = appAt();
    const [one, other] = [await openLink(app, await codeOf(app)), await openLink(app, await codeOf(app))];
    const headers = { ...here, 'content-type': 'application/json', cookie: one.cookie! };
    const answer = await app.request('/api/sign-out', { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toBe('pigeonpost-8088=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect(await callerWith(app, one.cookie)).toMatchObject({ status: 401 });
    expect(await callerWith(app, other.cookie)).toMatchObject({ status: 200 });
    const actions = await ledger.db.query<{ action: string }>(
      'select action from audit where action is not null order by number',
    );
    // The refused request above may be in the audit log as well by now.
    expect(actions.filter(({ action }) => action === 'sign-out')).toHaveLength(1);
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
    const opened = await openLink(app, await codeOf(app), { ...host, origin: 'https://desk.example.com' });
    expect(opened.cookie).toMatch(/^__Host-pigeonpost=pps_/);
    expect(opened.attributes).toContain('Secure');
    expect(await callerWith(app, opened.cookie, host)).toMatchObject({ status: 200 });
    // Any page of the domain could set a cookie without the prefix.
    const text = opened.cookie!.split('=')[1]!;
    for (const name of ['pigeonpost-80', 'pigeonpost-443', 'pigeonpost']) {
      expect(await callerWith(app, `${name}=${text}`, host)).toMatchObject({ status: 401 });
    }
  });

  it('is independent of sessions of other installations on the same host', async () => {
    const app = appAt();
    const { cookie } = await openLink(app, await codeOf(app));
    expect(await callerWith(app, `pigeonpost-9000=pps_other; ${cookie}`)).toMatchObject({ status: 200 });
    expect(await callerWith(app, cookie, { host: '127.0.0.1:9000' })).toMatchObject({ status: 401 });
  });

  it('does not count if another page of this host set a second one', async () => {
    const app = appAt();
    const [own, other] = [await openLink(app, await codeOf(app)), await openLink(app, await codeOf(app))];
    expect(await callerWith(app, `${other.cookie}; ${own.cookie}`)).toMatchObject({ status: 401 });
  });
});
