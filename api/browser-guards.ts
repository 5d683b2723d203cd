import { isIP } from 'node:net';
import type { ServerConfig } from '../config/config.js';
import { isLoopback } from '../base/loopback.js';
import { createMiddleware } from 'hono/factory';
import type { ApiContext, ApiEnvironment, ApiSources } from './api-app.js';
import { Refused } from './problem.js';

/**
 * Whether a request names this server as its host. A foreign page can point a name of its own to the address of this
 * machine (DNS rebinding) and then send requests as the same site. The visitor's browser still sends that name as the
 * host.
 *
 * If the server listens beyond loopback, it does not know its own names. Then a name counts as foreign only if a
 * `publicUrl` is configured; a foreign page lacks the required token anyway. Addresses and names without a dot never
 * count as foreign, because no page can point them to another address.
 * @param host value of the header, with or without a port
 */
function isOwnHost({ host: listensOn, publicUrl }: ServerConfig, host: string): boolean {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  const bare = name.replace(/^\[|\]$/g, '');
  const own = ['127.0.0.1', 'localhost', '::1', listensOn.toLowerCase()];
  if (publicUrl !== undefined) own.push(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''));
  if (own.includes(bare)) return true;
  if (isLoopback(listensOn)) return false;
  return publicUrl === undefined || isIP(bare) !== 0 || /^[a-z0-9-]+$/.test(bare);
}

/**
 * Whether an origin is this server, including its port, because other programs may serve the same host. Behind
 * `publicUrl` a proxy may have changed the scheme or the host on the way.
 */
function isOwnOrigin({ publicUrl }: ServerConfig, origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false; // "null", which browsers send for a page without an origin
  const found = new URL(origin);
  if (found.protocol !== 'http:' && found.protocol !== 'https:') return false;
  if (publicUrl !== undefined && new URL(publicUrl).origin === found.origin) return true;
  const own = `${found.protocol}//${host}`; // read with the same scheme, so that a default port is left out on both sides
  return found.host !== '' && URL.canParse(own) && new URL(own).host === found.host;
}

/** @throws {Refused} for requests that a page of another site caused the visitor's browser to send */
export function onlyFromHere(sources: Pick<ApiSources, 'config'>) {
  return createMiddleware<ApiEnvironment>(async (c, next) => {
    const { server } = sources.config;
    const host = c.req.header('host') ?? '';
    if (!isOwnHost(server, host)) {
      throw new Refused(421, 'this host name is not served here; if it is yours, set server.publicUrl');
    }
    const origin = c.req.header('origin');
    if (origin !== undefined && !isOwnOrigin(server, origin, host)) {
      throw new Refused(403, 'requests from other origins are refused');
    }
    // Browsers send this header even without an origin, such as for an image or a form.
    if (c.req.header('sec-fetch-site') === 'cross-site' && !followsLink(c)) {
      throw new Refused(403, 'requests from other sites are refused');
    }
    await next();
  });
}

/** Whether the browser followed a link to the page, as in an alert. This is safe: the page has no data and no frame shows it. */
function followsLink({ req }: ApiContext): boolean {
  return (
    req.path === '/' &&
    req.method === 'GET' &&
    req.header('sec-fetch-mode') === 'navigate' &&
    req.header('sec-fetch-dest') === 'document'
  );
}

/**
 * Security headers of every answer: no sniffing, no frames, no caching. The route of the page sets its own policy.
 */
const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
};

export const secureHeaders = createMiddleware<ApiEnvironment>(async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.header(name, value);
  }
});
