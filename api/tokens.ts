import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { addToken, allTokens, revokeToken, type StoredToken } from '../ledger/tokens.js';
import { audited } from './audit-log.js';
import { configuredName, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { roles } from './authenticate.js';
import { answers, jsonBody, needs, withIsoInstants } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';
import { makeToken } from './credentials.js';

const tokenName = z
  .string()
  .regex(/^(?!server\.token$|local$)[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
    error: 'a name has letters, digits and . _ -, at most 63, and is neither server.token nor local',
  })
  .describe(
    'At most 63 letters, digits and . _ -. The audit log shows it, so do not use an e-mail address. `server.token` and `local` are reserved.',
  );

const tokenSchema = z
  .object({
    name: z.string(),
    roles: z.array(z.string()).readonly(),
    workspace: z.string().nullable().describe('The only workspace that the token may see; null: all.'),
    createdAt: instant(),
    createdBy: z.string(),
    expiresAt: instant().nullable().describe('Null: never.'),
    lastUsedAt: instant().nullable().describe('Precise to the minute.'),
  })
  .openapi('Token');
export type TokenView = z.infer<typeof tokenSchema>;

const newTokenSchema = z
  .strictObject({
    name: tokenName,
    roles: z.array(z.enum(roles)).min(1).max(roles.length),
    workspace: configuredName().nullable().default(null),
    expiresInDays: z.int().min(1).max(3650).nullable().describe('Days from now; null: it never expires.'),
  })
  .openapi('NewToken');

const madeTokenSchema = tokenSchema
  .omit({ createdAt: true, createdBy: true, lastUsedAt: true })
  .extend({ token: z.string().describe('Shown only once, because only its hash is kept.') });

const dayMs = 86_400_000;

export const listRoute = createRoute({
  method: 'get',
  path: '/api/tokens',
  operationId: 'listTokens',
  tags: ['Tokens'],
  summary: 'List named tokens that are not revoked',
  ...needs({ right: 'administer' }),
  responses: answers('The tokens, sorted by name.', z.object({ tokens: z.array(tokenSchema) })),
});

export const createTokenRoute = createRoute({
  method: 'post',
  path: '/api/tokens',
  operationId: 'createToken',
  tags: ['Tokens'],
  summary: 'Create a token',
  ...needs({
    right: 'administer',
    looksLike:
      'a token has "name", "roles" (some of viewer, importer, operator, privacy, admin), "expiresInDays" (or null: never), and may have "workspace"',
  }),
  request: { body: jsonBody(newTokenSchema) },
  responses: answers(
    'The new token, with its secret text. It is shown only here.',
    madeTokenSchema,
    404,
    409,
    413,
    415,
  ),
});

export const revokeRoute = createRoute({
  method: 'post',
  path: '/api/tokens/{name}/revoke',
  operationId: 'revokeToken',
  tags: ['Tokens'],
  summary: 'Revoke a token',
  ...needs({ right: 'administer', looksLike: 'to revoke a token, send {}' }),
  request: { params: z.object({ name: configuredName() }), body: jsonBody(z.strictObject({})) },
  responses: answers('The token is revoked.', z.object({ done: z.literal(true) }), 404, 413, 415),
});

export function serveTokens(app: ApiApp, sources: Pick<ApiSources, 'config' | 'ledger'>): void {
  const { ledger } = sources;
  app.openapi(listRoute, async (c) => {
    requireEveryWorkspace(c);
    return c.json({ tokens: (await allTokens(ledger)).map(view) }, 200);
  });
  app.openapi(createTokenRoute, async (c) => {
    const { name, roles: wanted, workspace, expiresInDays } = c.req.valid('json');
    requireEveryWorkspace(c);
    const detail = { roles: wanted.join(' '), workspace, expiresInDays };
    const made = await audited(c, ledger, { action: 'create-token', target: `token:${name}`, detail }, async () => {
      if (workspace !== null && !Object.hasOwn(sources.config.workspaces, workspace)) {
        throw new Refused(404, `no workspace ${workspace} is configured`);
      }
      const { id, hash, text } = makeToken();
      const expiresAt = expiresInDays === null ? null : new Date(ledger.clock.nowMs() + expiresInDays * dayMs);
      const createdBy = c.get('caller').name;
      const given = [...new Set(wanted)];
      if (!(await addToken(ledger, { id, name, hash, roles: given, workspace, createdBy, expiresAt }))) {
        throw new Refused(409, `a token named ${name} exists: revoke it first, or choose another name`);
      }
      return { name, roles: given, workspace, expiresAt: expiresAt?.toISOString() ?? null, token: text };
    });
    return c.json(made, 200);
  });
  app.openapi(revokeRoute, async (c) => {
    const { name } = c.req.valid('param');
    requireEveryWorkspace(c);
    await audited(c, ledger, { action: 'revoke-token', target: `token:${name}` }, async () => {
      if (!(await revokeToken(ledger, name)))
        throw new Refused(404, `no token is named ${name}: run "pigeonpost token list" to see the names`);
    });
    return c.json({ done: true } as const, 200);
  });
}

function view({ id: _, ...token }: StoredToken): TokenView {
  return withIsoInstants(token);
}

const callerSchema = z
  .object({
    name: z.string().describe('Name of the token; `server.token`; `local` if no token was needed.'),
    roles: z.array(z.string()),
    rights: z
      .array(z.string())
      .describe('Rights that the roles include. A route names the right that it requires as `x-right`.'),
    workspace: z.string().nullable().describe('The only workspace that the caller may see; null: all.'),
  })
  .openapi('Caller');
export type CallerView = z.infer<typeof callerSchema>;

export const callerRoute = createRoute({
  method: 'get',
  path: '/api/caller',
  operationId: 'showCaller',
  tags: ['Tokens'],
  summary: 'Show the name and rights of the presented token',
  ...needs({ right: 'read' }),
  responses: answers('The caller and its rights.', callerSchema),
});

export function serveCaller(app: ApiApp): void {
  app.openapi(callerRoute, (c) => {
    const { name, roles, rights, workspace } = c.get('caller');
    return c.json({ name, roles: [...roles], rights: [...rights], workspace }, 200);
  });
}
