import { createRoute, z } from '@hono/zod-openapi';
import { endPageSession } from '../ledger/page-sessions.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { cookieOf, sessionTextIn } from './authenticate.js';
import { hashToken } from './credentials.js';
import { answers, jsonBody, needs } from './route-parts.js';

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
