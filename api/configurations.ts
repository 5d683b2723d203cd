import { createRoute, z } from '@hono/zod-openapi';
import { appliedConfigurationSchema } from '../operations/configuration-plan.js';
import {
  compareEditions,
  comparisonSchema,
  configurationHistory,
  configurationText,
  configurationTextSchema,
  historySchema,
  restoreConfiguration,
} from '../operations/configurations/history.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { usable } from './configuration.js';
import type { AllPlaces } from './places.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';

const number = z.coerce.number().int().min(1).max(2_147_483_647);

export const historyRoute = createRoute({
  method: 'get',
  path: '/api/configurations',
  operationId: 'listConfigurations',
  tags: ['Configuration'],
  summary: 'List the configurations that were current, newest first, with author, time and changes',
  ...needs({ right: 'operate' }),
  request: {
    query: z.strictObject({
      before: number.optional().describe('Only those with a lower number.'),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
  },
  responses: answers('The history of the configuration.', historySchema),
});

export const compareRoute = createRoute({
  method: 'get',
  path: '/api/configurations/compare',
  operationId: 'compareConfigurations',
  tags: ['Configuration'],
  summary: 'Compare two configurations, or one with the file, line by line',
  ...needs({ right: 'administer' }),
  request: {
    query: z.strictObject({
      from: number,
      to: z.union([z.literal('file'), number]).describe('`file`: the present content of the configuration file.'),
    }),
  },
  responses: answers('What differs.', comparisonSchema, 404, 409, 422),
});

export const textRoute = createRoute({
  method: 'get',
  path: '/api/configurations/{number}',
  operationId: 'showConfiguration',
  tags: ['Configuration'],
  summary: 'Show the file of a configuration, without secrets',
  ...needs({ right: 'administer' }),
  request: { params: z.object({ number }) },
  responses: answers('The file as it was applied.', configurationTextSchema, 404),
});

export const restoreRoute = createRoute({
  method: 'post',
  path: '/api/configurations/{number}/restore',
  operationId: 'restoreConfiguration',
  tags: ['Configuration'],
  summary: 'Write an earlier configuration into the file, and apply it as a new one',
  ...needs({ right: 'administer', looksLike: 'to restore a configuration, send {}' }),
  request: { params: z.object({ number }), body: jsonBody(z.strictObject({})) },
  responses: answers('The changes that were made.', appliedConfigurationSchema, 404, 409, 413, 415, 422),
});

export function serveConfigurations(app: ApiApp, sources: ApiSources, { plans }: AllPlaces): void {
  const unknown = (): Refused => new Refused(404, 'there is no configuration with this number');
  app.openapi(historyRoute, async (c) => {
    requireEveryWorkspace(c);
    const { before = null, limit } = c.req.valid('query');
    return c.json(await configurationHistory(sources, { before, limit }), 200);
  });
  app.openapi(compareRoute, async (c) => {
    requireEveryWorkspace(c);
    const { from, to } = c.req.valid('query');
    const found = await usable(() => compareEditions(sources, { from, to: to === 'file' ? null : to }));
    if (found === undefined) throw unknown();
    return c.json(found, 200);
  });
  app.openapi(textRoute, async (c) => {
    requireEveryWorkspace(c);
    const found = await configurationText(sources, c.req.valid('param').number);
    if (found === undefined) throw unknown();
    return c.json(found, 200);
  });
  app.openapi(restoreRoute, async (c) => {
    requireEveryWorkspace(c);
    const { number: wanted } = c.req.valid('param');
    const entry = { action: 'restore-configuration', target: null, detail: { number: wanted } };
    const apply = () => sources.applyConfiguration(c.get('caller').name);
    const applied = await audited(c, sources.ledger, entry, () =>
      plans.in(() => usable(() => restoreConfiguration(sources, wanted, { apply }))),
    );
    return c.json(applied, 200);
  });
}
