import { bodyLimit } from 'hono/body-limit';
import { endPageSession } from '../ledger/page-sessions.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { authenticate, type Caller, callerOf, cookieOf, openSession, sessionTextIn } from './authenticate.js';
import { cookieIn, hashToken } from './credentials.js';
import { Refused } from './problem.js';
import { askToSignIn, answerToOldLink } from './sign-in-page.js';

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
