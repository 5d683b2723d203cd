import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { Refused } from './problem.js';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

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

/** `GET /` and the files of the page. They contain nothing that needs a token; the page requests all data from the API. */
export function servePage(app: ApiApp, { page }: Pick<ApiSources, 'page'>): void {
  app.get('/', (c) => {
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

/** Answers with a file of the page or a document. */
export function answer(c: ApiContext, { type, bytes, zipped, tag, lasting }: PageFile): Response {
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

/** A file of the built page, or a document. */
export interface PageFile {
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
    const file = pageFile(type, readFileSync(join(folder, path)), { lasting: path.startsWith('assets/') });
    files.set(path === 'index.html' ? '/' : `/${path}`, file);
  }
  return files;
}

export function pageFile(type: string, content: Buffer, { lasting = false } = {}): PageFile {
  const bytes = new Uint8Array(content);
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, zipped: new Uint8Array(gzipSync(bytes, { level: 9 })), tag, lasting };
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
