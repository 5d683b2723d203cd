import { isIP } from 'node:net';
import type { ServerConfig } from '../config/config.js';
import { isLoopback } from '../config/loopback.js';
import { createMiddleware } from 'hono/factory';
import type { ApiEnvironment } from './api-app.js';

/**
 * Whether a request names this server. A foreign page can give a name of its own the address of this machine (DNS
 * rebinding) and then asks as if it were the same site; but its browser tells that name.
 *
 * Off loopback a token is needed, which such a page has not, and nobody can know by which names the machine is reached:
 * there only a `publicUrl` makes names foreign, and never an address or a name without a dot, which nobody can rebind.
 * @param host as in the header, with or without a port
 */
export function isOwnHost({ host: listensOn, publicUrl }: ServerConfig, host: string): boolean {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  const bare = name.replace(/^\[|\]$/g, '');
  const own = ['127.0.0.1', 'localhost', '::1', listensOn.toLowerCase()];
  if (publicUrl !== undefined) own.push(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''));
  if (own.includes(bare)) return true;
  if (isLoopback(listensOn)) return false;
  return publicUrl === undefined || isIP(bare) !== 0 || /^[a-z0-9-]+$/.test(bare);
}

/**
 * Whether the origin that a browser names is this very server, port included: other programs serve this host, too. Behind
 * `publicUrl` a proxy may have changed the scheme or the host on the way.
 */
export function isOwnOrigin({ publicUrl }: ServerConfig, origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false; // "null", of a page without one
  const found = new URL(origin);
  if (found.protocol !== 'http:' && found.protocol !== 'https:') return false;
  if (publicUrl !== undefined && new URL(publicUrl).origin === found.origin) return true;
  const own = `${found.protocol}//${host}`; // read with the same scheme, so that a default port is left out on both sides
  return found.host !== '' && URL.canParse(own) && new URL(own).host === found.host;
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
