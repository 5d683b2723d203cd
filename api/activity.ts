import { createRoute, z } from '@hono/zod-openapi';
import { configuredName } from '../base/printable.js';
import { activitySchema, readActivity, spanNames } from '../operations/activity.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { incidentScopeOf } from './incidents.js';
import { answers, needs } from './route-parts.js';
import { notKnown, requireWorkspace, seesSink, workspaceOf } from './scope.js';

const query = z.strictObject({ span: z.enum(spanNames).default('1h').describe('Time until now that is covered.') });

export const sinkActivityRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/activity',
  operationId: 'showSinkActivity',
  tags: ['Sinks'],
  summary: 'Show what a sink was to receive and received over time, and what waited',
  ...needs({ right: 'read' }),
  request: { params: z.object({ name: configuredName() }), query },
  responses: answers('The activity by step.', activitySchema, 404),
});

export const pigeonholeActivityRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{workspace}/{id}/activity',
  operationId: 'showPigeonholeActivity',
  tags: ['Reading'],
  summary: 'Show what was found in a pigeonhole over time, what its sinks received, and what waited',
  ...needs({ right: 'read' }),
  request: { params: z.object({ workspace: configuredName(), id: z.coerce.number().int().min(0) }), query },
  responses: answers('The activity by step.', activitySchema),
});

export function serveActivity(app: ApiApp, sources: ApiSources): void {
  app.openapi(sinkActivityRoute, async (c) => {
    const { name: sink } = c.req.valid('param');
    const { span } = c.req.valid('query');
    if (!Object.hasOwn(sources.config.sinks, sink) || !seesSink(c, sources, sink)) {
      throw notKnown(c, sources, { kind: 'sink', name: sink });
    }
    const of = { sink, workspace: workspaceOf(c) };
    return c.json(await readActivity(sources.ledger, of, { span, scope: incidentScopeOf(c, sources) }), 200);
  });
  app.openapi(pigeonholeActivityRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    const { span } = c.req.valid('query');
    requireWorkspace(c, workspace);
    const of = { pigeonhole: { workspace, pigeonholeId: id } };
    return c.json(await readActivity(sources.ledger, of, { span, scope: incidentScopeOf(c, sources) }), 200);
  });
}
