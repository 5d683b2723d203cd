import { createRoute, z } from '@hono/zod-openapi';
import type { ApiApp } from './api-app.js';
import { jsonAnswer, needs, problems } from './route-parts.js';
import { workspaceOf } from './scope.js';
import type { StatusSources } from './status.js';
import { quotaViewSchema } from './status-view.js';

const quotasRoute = createRoute({
  method: 'get',
  path: '/api/quota',
  operationId: 'listQuotas',
  tags: ['Reading'],
  summary: "How the request quota of each workspace's key stands, and how long it lasts",
  ...needs({ right: 'read' }),
  responses: {
    200: jsonAnswer(
      'By workspace.',
      z.object({
        workspaces: z.array(
          z.object({
            workspace: z.string(),
            quota: quotaViewSchema.nullable().describe('Null: no request was made with its key yet.'),
          }),
        ),
      }),
    ),
    ...problems(),
  },
});

/** `GET /api/quota`. */
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
