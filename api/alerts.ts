import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';
import { alertsSchema } from '../operations/alerts/alert-desk.js';

const testedSchema = z
  .object({
    receivers: z
      .array(
        z.object({
          receiver: z.string(),
          delivered: z.boolean(),
          detail: z.string().nullable().describe('The reason for the failure.'),
        }),
      )
      .readonly(),
  })
  .openapi('TestedAlerts');
export type TestedAlerts = z.infer<typeof testedSchema>;

export const showRoute = createRoute({
  method: 'get',
  path: '/api/alerts',
  operationId: 'showAlerts',
  tags: ['Alerts'],
  summary: 'List raised alerts and the state of their receivers',
  ...needs({ right: 'read' }),
  responses: answers('The alerts now.', alertsSchema),
});

export const testRoute = createRoute({
  method: 'post',
  path: '/api/alerts/test',
  operationId: 'testAlerts',
  tags: ['Alerts'],
  summary: 'Send a test message to every receiver of alerts',
  ...needs({ right: 'operate', looksLike: 'a test of alerts takes an empty object: {}' }),
  request: { body: jsonBody(z.strictObject({})) },
  responses: answers('The result for each destination.', testedSchema, 409, 413, 415),
});

export function serveAlerts(app: ApiApp, { ledger, alerts }: Pick<ApiSources, 'ledger' | 'alerts'>): void {
  app.openapi(showRoute, async (c) => {
    requireEveryWorkspace(c);
    return c.json(await alerts.view(), 200);
  });
  app.openapi(testRoute, async (c) => {
    requireEveryWorkspace(c);
    const hasFailed = (tested: TestedAlerts['receivers']): boolean => tested.some(({ delivered }) => !delivered);
    const receivers = await audited(c, ledger, { action: 'test-alerts', target: null, hasFailed }, async () => {
      const tested = await alerts.test();
      if (tested.length > 0) return tested;
      throw new Refused(409, 'no receivers are configured: name them under "alerts.to" in pigeonpost.yaml');
    });
    return c.json({ receivers }, 200);
  });
}
