import { createMiddleware } from 'hono/factory';
import type { ApiEnvironment } from './api-app.js';

/**
 * What a browser may make of an answer: nothing but what it says it is, in no frame, in no cache. A route that serves a
 * page sets a policy of its own.
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
