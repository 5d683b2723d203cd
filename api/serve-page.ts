import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { audited } from './audit-log.js';
import { administratorsTokens, authenticate, callerOf } from './authenticate.js';
import { makeSession, sessionCookie, type Holder } from './credentials.js';
import { Refused } from './problem.js';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createRoute, z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import { answers, jsonBody, needs } from './route-parts.js';

/**
 * Content security policy of the page: it may run its own script and style and send requests to this server. Other
 * servers, inline scripts and frames are not allowed, so that a text of an attendee cannot run as a script even if the
 * page has a bug.
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
 * `GET /` and the files of the page. They contain nothing that needs a token; the page requests all data from the API.
 * `GET /?code=…` signs the browser in and leads to the page, whose address then holds no code.
 */
export function servePage(app: ApiApp, sources: ApiSources): void {
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

/** Exchanges a code for a session. Returns false for a code that was never created, was used, or has expired. */
async function signIn(c: ApiContext, sources: ApiSources, code: string): Promise<boolean> {
  const holder = sources.pageCodes.take(code);
  if (holder === undefined) return false;
  c.set('caller', await callerOf(sources, holder));
  const session = await audited(c, sources.ledger, { action: 'sign-in', target: null }, async () =>
    makeSession(administratorsTokens(sources)[0]!.text, holder, sources.ledger.clock.nowMs()),
  );
  c.header('Set-Cookie', sessionCookie(session, sources.config.server, c.req.header('host') ?? ''));
  return true;
}

/** Whether the browser is signed in already, so that an old link still leads to the page. */
async function hasSession(c: ApiContext, sources: ApiSources): Promise<boolean> {
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

/** Stands alone, because a browser that is not signed in may not have loaded the files of the page. */
const oldLinkPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>pigeonpost</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>This link no longer works</h1>
<p>This link was used, is older than ten minutes, or was made before pigeonpost was restarted.</p>
<p>Run <code>pigeonpost open</code> for another one.</p>
</html>
`;

function answerToOldLink(c: ApiContext): Response {
  c.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  return c.html(oldLinkPage, 401);
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

/** A file of the built page. */
interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
  /** Hash of the content. */
  readonly tag: string;
  /** Whether its name changes with its content, so that a browser can keep it. */
  readonly lasting: boolean;
}

/** Files by path. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * Reads all files of the built page into memory, a few hundred kilobytes. No other file can be requested, because only
 * these paths are known.
 * @returns no files if the page was not built
 */
export function readPageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>();
  for (const path of filesBelow(folder)) {
    const type = types[path.split('.').at(-1)!];
    if (type === undefined) continue;
    const bytes = new Uint8Array(readFileSync(join(folder, path)));
    files.set(path === 'index.html' ? '/' : `/${path}`, {
      type,
      bytes,
      zipped: new Uint8Array(gzipSync(bytes, { level: 9 })),
      tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      lasting: path.startsWith('assets/'),
    });
  }
  return files;
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const validMs = 10 * 60_000;
/** Maximum number of codes, more than people need at a time. The oldest one is discarded first. */
const maxCodes = 100;

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
    this.#codes.set(hashOf(code), { holder, untilMs });
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= maxCodes) break;
      this.#codes.delete(oldest);
    }
    return { code, expiresAt: new Date(untilMs) };
  }

  /** Uses a code. @returns undefined if it was not created here, was used, or has expired */
  take(code: string): Holder | undefined {
    const hash = hashOf(code);
    const found = this.#codes.get(hash);
    this.#codes.delete(hash);
    return found !== undefined && found.untilMs > this.now() ? found.holder : undefined;
  }
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
    code: z.string().describe('Opening `/?code=…` in a browser signs the browser in. A code works once.'),
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
