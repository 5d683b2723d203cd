import type { ApiApp, ApiContext } from './api-app.js';
import { audited } from './audited.js';
import { type AccessSources, administratorsToken, authenticate, callerOf } from './authenticate.js';
import type { PageFile, PageFiles } from './page-files.js';
import type { PageCodes } from './page-links.js';
import { makeSession, sessionCookie } from './page-session.js';
import { Refused } from './problem.js';

/** What a process that serves the page has of it. */
export interface PageSources extends AccessSources {
  readonly page: PageFiles;
  readonly pageCodes: PageCodes;
}

/**
 * What the page may do in a browser: run its own script and style, and ask this server. No other network, no inline
 * script, no frame: what people have written stays text even if the page were wrong about it.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/**
 * `GET /` and the files that the page is made of. They hold nothing that needs a token; all data is asked of the API.
 * `GET /?code=…` signs the browser in and leads to the page, whose address then holds no code.
 */
export function servePage(app: ApiApp, sources: PageSources): void {
  const { page } = sources;
  app.get('/', async (c) => {
    const code = c.req.query('code');
    if (code !== undefined) {
      const isSignedIn = (await signIn(c, sources, code)) || (await hasSession(c, sources));
      return isSignedIn ? c.redirect('./', 303) : answerToOldLink(c);
    }
    const file = page.get('/');
    if (file === undefined) {
      throw new Refused(
        404,
        'the page was not built: run "npm run build" and start again; the API is at /openapi.json',
      );
    }
    return answer(c, file);
  });
  for (const [path, file] of page) if (path !== '/') app.get(path, (c) => answer(c, file));
}

/** Exchanges a code for a session. A code that was never made, was used or has expired changes nothing. */
async function signIn(c: ApiContext, sources: PageSources, code: string): Promise<boolean> {
  const holder = sources.pageCodes.take(code);
  if (holder === undefined) return false;
  c.set('caller', await callerOf(sources, holder));
  const session = await audited(c, sources.ledger, { action: 'sign-in', target: null }, async () =>
    makeSession(administratorsToken(sources), holder, sources.ledger.clock.nowMs()),
  );
  c.header('Set-Cookie', sessionCookie(session, sources.config.server, c.req.header('host') ?? ''));
  return true;
}

/** Opening a link again in the browser that it has signed in leads to the page. */
async function hasSession(c: ApiContext, sources: PageSources): Promise<boolean> {
  if (c.req.header('cookie') === undefined) return false;
  const header = (name: string): string | undefined =>
    name === 'cookie' || name === 'host' ? c.req.header(name) : undefined;
  return await authenticate(sources, header).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refused) return false;
      throw error;
    },
  );
}

function answerToOldLink(c: ApiContext): Response {
  return c.text(
    'This link was used, is older than ten minutes, or was made before pigeonpost was restarted.\n' +
      'Run "pigeonpost open" for another one.\n',
    401,
  );
}

function answer(c: ApiContext, { type, bytes, zipped, tag, lasting }: PageFile): Response {
  const headers: Record<string, string> = {
    'Content-Security-Policy': policy,
    'Cache-Control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: tag,
    Vary: 'Accept-Encoding',
  };
  if (isKnown(tag, c.req.header('if-none-match'))) return new Response(null, { status: 304, headers });
  headers['Content-Type'] = type;
  if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return new Response(bytes, { headers });
  return new Response(zipped, { headers: { ...headers, 'Content-Encoding': 'gzip' } });
}

/** A proxy that compresses marks the tag as weak; the content is the same. */
function isKnown(tag: string, known: string | undefined): boolean {
  return (known ?? '').split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}
