import { createHash, randomBytes } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { instant } from '../base/printable.js';
import { endPageSession } from '../ledger/page-sessions.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { authenticate, type Caller, callerOf, openSession, sessionTextIn } from './authenticate.js';
import { cookieIn, hashToken, setCookie, type Holder } from './credentials.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs } from './route-parts.js';

/**
 * `GET /?code=…` shows whose token the link is for, and changes nothing: a preview of the link uses nothing up, and a
 * person sees whose token it is first. `POST /sign-in`, which only that page can send, signs the browser in.
 */
export function serveSignIn(app: ApiApp, sources: ApiSources): void {
  app.get('/', async (c, next) => {
    const code = c.req.query('code');
    if (code === undefined) return await next();
    const [caller, present] = await Promise.all([callerWith(sources, code), signedInCaller(c, sources)]);
    if (caller === undefined) return present === undefined ? answerToOldLink(c) : c.redirect('./', 303);
    return askToSignIn(c, sources, { code, caller, present });
  });
  app.post('/sign-in', bodyLimit({ maxSize: 4096, onError: () => refuseForm(413) }), async (c) => {
    const form = await formOf(c, sources);
    const holder = sources.pageCodes.take(form.code);
    c.header('Set-Cookie', cookieOf(c, sources, 'sign-in', { text: '', lastsSeconds: 0 }));
    if (holder === undefined) return answerToOldLink(c);
    c.set('caller', await callerOf(sources, holder));
    const before = sessionTextIn(sources, (name) => c.req.header(name));
    const session = await audited(c, sources.ledger, { action: 'sign-in', target: null }, async () => {
      if (before !== undefined) await endPageSession(sources.ledger, hashToken(before));
      return await openSession(sources, holder);
    });
    c.header('Set-Cookie', cookieOf(c, sources, 'session', session), { append: true });
    return c.redirect('./', 303);
  });
}

/** Returns the caller that a code signs in; undefined for a code that was never created, was used, or has expired. */
async function callerWith(sources: ApiSources, code: string): Promise<Caller | undefined> {
  const holder = sources.pageCodes.find(code);
  return holder === undefined ? undefined : await unlessRefused(callerOf(sources, holder));
}

/** Returns the caller that the browser is already signed in as. */
async function signedInCaller(c: ApiContext, sources: ApiSources): Promise<Caller | undefined> {
  if (c.req.header('cookie') === undefined) return undefined;
  const header = (name: string): string | undefined =>
    name === 'cookie' || name === 'host' ? c.req.header(name) : undefined;
  return await unlessRefused(authenticate(sources, header));
}

async function unlessRefused(caller: Promise<Caller>): Promise<Caller | undefined> {
  try {
    return await caller;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/**
 * Reads the form of the confirmation page.
 * @throws {Refused} 403 unless the page of this server was shown in this browser and sent the form
 */
async function formOf(c: ApiContext, sources: ApiSources): Promise<{ readonly code: string }> {
  // Browsers always send the origin of a form, and `onlyFromHere` has compared it.
  if (c.req.header('origin') === undefined) refuseForm(403);
  if (!(c.req.header('content-type') ?? '').startsWith('application/x-www-form-urlencoded')) refuseForm(415);
  const { code, nonce } = await c.req.parseBody();
  const cookies = { cookies: c.req.header('cookie'), host: c.req.header('host') ?? '' };
  const expected = cookieIn('sign-in', sources.config.server, cookies);
  if (typeof code !== 'string' || expected === undefined || nonce !== expected) refuseForm(403);
  return { code };
}

function refuseForm(status: 403 | 413 | 415): never {
  throw new Refused(status, 'open the link in a browser, and select its button');
}

function cookieOf(
  c: ApiContext,
  { config }: ApiSources,
  purpose: 'session' | 'sign-in',
  value: { readonly text: string; readonly lastsSeconds: number },
): string {
  return setCookie(purpose, config.server, { ...value, host: c.req.header('host') ?? '' });
}

const style = `
:root { color-scheme: light dark; --line: light-dark(#e0e4eb, #2c343f); --dim: light-dark(#566070, #a0abba); --accent: light-dark(#3a4bd0, #a3b0ff); --on-accent: light-dark(#fff, #131a3d); --warning: light-dark(#fff6e3, #2e2615) }
body { margin: 0; padding: 1rem; background: light-dark(#f5f6f9, #11151b); color: light-dark(#1a212c, #e6eaf0); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 34rem; margin: 8vh auto 0; padding: 1.5rem; background: light-dark(#fff, #191e26); border: 1px solid var(--line); border-radius: .5rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 1rem 0 }
dt { color: var(--dim) }
dd { margin: 0 }
.note { padding: .5rem .75rem; background: var(--warning); border-radius: .375rem }
.actions { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin-top: 1.25rem }
button { padding: .5rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: .375rem; cursor: pointer }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code { font-family: ui-monospace, monospace }
`;

/**
 * A page that stands alone, because a browser that is not signed in may not have loaded the files of the page. It runs no
 * script, appears in no frame, and sends its form only to this server.
 */
function answerPage(c: ApiContext, title: string, main: string, status: 200 | 401): Response {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  c.header('Content-Security-Policy', policy);
  c.header('Referrer-Policy', 'same-origin'); // without a referrer, a browser sends the form without its origin
  return c.html(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · pigeonpost</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`,
    status,
  );
}

interface Confirmation {
  readonly code: string;
  readonly caller: Caller;
  /** The caller that the browser is signed in as; undefined if it is not. */
  readonly present: Caller | undefined;
}

function askToSignIn(c: ApiContext, sources: ApiSources, { code, caller, present }: Confirmation): Response {
  const nonce = randomBytes(24).toString('base64url');
  c.header('Set-Cookie', cookieOf(c, sources, 'sign-in', { text: nonce, lastsSeconds: validMs / 1000 }));
  const name = shownName(caller);
  const note =
    present === undefined
      ? ''
      : `<p class="note">This browser is signed in as <b>${shownName(present)}</b>. That session ends when you sign in.</p>`;
  return answerPage(
    c,
    `Sign in as ${name}`,
    `<p>This link signs this browser in with the rights of a token.</p>
<dl>
<dt>Token</dt><dd><b>${escaped(caller.name)}</b></dd>
<dt>Roles</dt><dd>${caller.roles.map(escaped).join(', ')}</dd>
<dt>Workspace</dt><dd>${caller.workspace === null ? 'all' : escaped(caller.workspace)}</dd>
<dt>Session</dt><dd>24 hours, or until you sign out</dd>
</dl>
${note}
<p>The holder of this token can see what you do with it, and the rows of files that you import. Sign in only if you requested
this link, or know who sent it.</p>
<form method="post" action="./sign-in" class="actions">
<input type="hidden" name="code" value="${escaped(code)}">
<input type="hidden" name="nonce" value="${nonce}">
<button>Sign in as ${name}</button>
<a href="./">Cancel</a>
</form>`,
    200,
  );
}

/** Returns the name of a caller as the page shows it, as HTML. */
function shownName({ name, token }: Caller): string {
  return token === null ? 'administrator' : escaped(name);
}

function answerToOldLink(c: ApiContext): Response {
  return answerPage(
    c,
    'This link no longer works',
    `<p>This link was used, is older than ten minutes, or was made before pigeonpost was restarted.</p>
<p>Run <code>pigeonpost open</code> for another one, or <a href="./">enter a token on the page</a>.</p>`,
    401,
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

const validMs = 10 * 60_000;
/**
 * Maximum number of codes of one token, more than a person needs at a time. Its oldest one is discarded first, so that no
 * token can invalidate the codes of another.
 */
const maxCodesPerHolder = 20;

interface MadeCode {
  /** `ppc_` and 144 random bits: short enough for a line of a terminal. */
  readonly code: string;
  readonly expiresAt: Date;
}

/**
 * Codes that sign a browser in. Each works once, within ten minutes, in the process that created it. Only hashes are
 * kept, in memory, so a restart invalidates all codes.
 */
export class PageCodes {
  readonly #codes = new Map<string, { readonly holder: Holder; readonly untilMs: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  make(holder: Holder): MadeCode {
    const code = `ppc_${randomBytes(18).toString('base64url')}`;
    const untilMs = this.now() + validMs;
    for (const [hash, old] of this.#codes) if (old.untilMs <= this.now()) this.#codes.delete(hash);
    const own = [...this.#codes].filter(([, old]) => isSameHolder(old.holder, holder));
    if (own.length >= maxCodesPerHolder) this.#codes.delete(own[0]![0]);
    this.#codes.set(hashOf(code), { holder, untilMs });
    return { code, expiresAt: new Date(untilMs) };
  }

  /** Returns the owner of a code, without using it. @returns undefined as `take` */
  find(code: string): Holder | undefined {
    const found = this.#codes.get(hashOf(code));
    return found !== undefined && found.untilMs > this.now() ? found.holder : undefined;
  }

  /** Uses a code. @returns undefined if it was not created here, was used, or has expired */
  take(code: string): Holder | undefined {
    const holder = this.find(code);
    this.#codes.delete(hashOf(code));
    return holder;
  }
}

function isSameHolder(one: Holder, other: Holder): boolean {
  const nameOf = (holder: Holder): string => (holder.kind === 'token' ? holder.id : holder.by);
  return nameOf(one) === nameOf(other);
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

/** The page's address with a code, below the address of the server. */
export function linkWith(baseUrl: string, { code }: Pick<MadeCode, 'code'>): string {
  return `${baseUrl.replace(/\/$/, '')}/?code=${code}`;
}

const codeSchema = z
  .object({
    code: z
      .string()
      .describe('`/?code=…` leads to a page that asks a person to sign the browser in. A code works once.'),
    expiresAt: instant(),
  })
  .openapi('PageCode');

export const codeRoute = createRoute({
  method: 'post',
  path: '/api/page-codes',
  operationId: 'createPageCode',
  tags: ['Tokens'],
  summary: 'Create a code that signs a browser in to the page with the rights of this token',
  ...needs({ right: 'read', looksLike: 'to create a code, send {}' }),
  request: { body: jsonBody(z.strictObject({})) },
  responses: answers('The one-time code.', codeSchema, 413, 415),
});

export function servePageCodes(app: ApiApp, { ledger, pageCodes }: Pick<ApiSources, 'ledger' | 'pageCodes'>): void {
  app.openapi(codeRoute, async (c) => {
    const { token, name } = c.get('caller');
    const by = name === 'server.token' ? 'server.token' : 'local';
    const holder: Holder = token === null ? { kind: 'administrator', by } : { kind: 'token', id: token };
    const made = await audited(
      c,
      ledger,
      { action: 'create-page-code', target: null, changesNothing: true },
      async () => pageCodes.make(holder),
    );
    return c.json({ code: made.code, expiresAt: made.expiresAt.toISOString() }, 200);
  });
}

export const signOutRoute = createRoute({
  method: 'post',
  path: '/api/sign-out',
  operationId: 'signOut',
  tags: ['Tokens'],
  summary: 'End the session of this browser',
  ...needs({ right: 'read', looksLike: 'to sign out, send {}' }),
  request: { body: jsonBody(z.strictObject({})) },
  responses: answers(
    'The session in the cookie has ended, and the cookie is deleted. Tokens stay valid: revoke them instead.',
    z.object({ done: z.literal(true) }),
    413,
    415,
  ),
});

export function serveSignOut(app: ApiApp, sources: ApiSources): void {
  app.openapi(signOutRoute, async (c) => {
    const session = sessionTextIn(sources, (name) => c.req.header(name));
    if (session !== undefined) {
      const action = { action: 'sign-out', target: null, changesNothing: true };
      await audited(c, sources.ledger, action, async () => await endPageSession(sources.ledger, hashToken(session)));
    }
    c.header('Set-Cookie', cookieOf(c as ApiContext, sources, 'session', { text: '', lastsSeconds: 0 }));
    return c.json({ done: true } as const, 200);
  });
}
