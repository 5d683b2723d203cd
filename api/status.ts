import { createRoute, z } from '@hono/zod-openapi';
import { countStored } from '../operations/ledger-status.js';
import { statusSchema, quotaViewSchema } from '../operations/status-view.js';
import type { ApiApp } from './api-app.js';
import { jsonAnswer, needs, problems } from './route-parts.js';
import type { StatusSources } from '../operations/read-status.js';
import { readStatus, own } from '../operations/read-status.js';
import { workspaceOf } from './scope.js';

export const statusRoute = createRoute({
  method: 'get',
  path: '/api/status',
  operationId: 'showStatus',
  tags: ['Status'],
  summary: 'Show each workspace, pigeonhole and sink, and the reason for its state',
  ...needs({ right: 'read' }),
  request: {
    query: z.strictObject({
      counts: z
        .string()
        .optional()
        .describe(
          '`items`: also counts items by list. Any other value: also counts deliveries by list and sink. Both read the whole ledger.',
        ),
    }),
  },
  responses: { 200: jsonAnswer('The state of the whole instance.', statusSchema), ...problems() },
});

export function serveStatus(app: ApiApp, sources: StatusSources): void {
  app.openapi(statusRoute, async (c) => {
    const workspace = workspaceOf(c);
    const { counts } = c.req.valid('query');
    const status = await readStatus(sources, counts !== undefined && counts !== 'items', workspace);
    if (counts !== 'items') return c.json(status, 200);
    const items = own(await countStored(sources.ledger), workspace);
    return c.json({ ...status, counts: { items, deliveries: [] } }, 200);
  });
}

export const quotasRoute = createRoute({
  method: 'get',
  path: '/api/quota',
  operationId: 'listQuotas',
  tags: ['Reading'],
  summary: "Show the request quota of each workspace's key, and how long it lasts",
  ...needs({ right: 'read' }),
  responses: {
    200: jsonAnswer(
      'The quotas, by workspace.',
      z.object({
        workspaces: z.array(
          z.object({
            workspace: z.string(),
            quota: quotaViewSchema.nullable().describe('Null: no request has been made with its key yet.'),
          }),
        ),
      }),
    ),
    ...problems(),
  },
});

export function serveQuotas(app: ApiApp, sources: Pick<StatusSources, 'config' | 'quotas'>): void {
  app.openapi(quotasRoute, async (c) => {
    const own = workspaceOf(c);
    const quotas = await sources.quotas();
    const workspaces = Object.keys(sources.config.workspaces)
      .filter((workspace) => own === null || workspace === own)
      .map((workspace) => ({ workspace, quota: quotas.get(workspace) ?? null }));
    return c.json({ workspaces }, 200);
  });
}
