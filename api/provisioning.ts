import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import { largestFileBytes, usable } from './configuration.js';
import type { AllPlaces } from './places.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { actorOf, requireEveryWorkspace } from './scope.js';
import { eventRequestSchema, eventViewSchema } from '../operations/provision-event.js';

const guard = needs({
  right: 'operate',
  largestBytes: 2 * largestFileBytes,
  looksLike:
    'an event has "file" and its "text", "use" (ids by object), "create" and "skip" (lists of objects), and may have "by"',
});

export const planRoute = createRoute({
  ...guard,
  method: 'post',
  path: '/api/events/plan',
  operationId: 'planEvent',
  tags: ['Events'],
  summary: 'Compare an event file with the service; changes nothing',
  request: { body: jsonBody(eventRequestSchema) },
  responses: answers('The state of the provisioned event.', eventViewSchema, 409, 413, 415, 422),
});

export const applyRoute = createRoute({
  ...guard,
  method: 'post',
  path: '/api/events/apply',
  operationId: 'applyEvent',
  tags: ['Events'],
  summary: 'Create objects of an event, for a few seconds per request; repeat until nothing is left',
  request: { body: jsonBody(eventRequestSchema) },
  responses: answers('The state of the provisioned event.', eventViewSchema, 409, 413, 415, 422),
});

/**
 * `POST /api/events/plan` and `POST /api/events/apply`. Both need a token for all workspaces, because only the event
 * file names the workspace.
 */
export function serveProvisioning(app: ApiApp, sources: ApiSources, { plans }: AllPlaces): void {
  app.openapi(planRoute, async (c) => {
    requireEveryWorkspace(c);
    return c.json(await plans.in(() => usable(() => sources.lookAtEvent(c.req.valid('json')))), 200);
  });
  app.openapi(applyRoute, async (c) => {
    requireEveryWorkspace(c);
    const asked = c.req.valid('json');
    const by = actorOf(c, asked.by);
    const view = await audited(c, sources.ledger, { action: 'apply-event', target: null }, () =>
      plans.in(() => usable(() => sources.applyEvent(by === undefined ? asked : { ...asked, by }))),
    );
    return c.json(view, 200);
  });
}
