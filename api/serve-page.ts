import type { ApiApp, ApiContext } from './api-app.js';
import type { PageFile, PageFiles } from './page-files.js';
import { Refused } from './problem.js';

/** What a process that serves the page has of it. */
export interface PageSources {
  readonly page: PageFiles;
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

/** `GET /` and the files that the page is made of. They hold nothing that needs a token; all data is asked of the API. */
export function servePage(app: ApiApp, { page }: PageSources): void {
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
