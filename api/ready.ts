import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { deadLetterGroups } from '../delivering/dead-letters.js';
import { knownPigeonhole, pigeonholeWithPresent } from './pigeonholes.js';
import { configuredName, idText } from '../base/printable.js';
import { isReady, readinessSchema, type ReadyCheck, workChecks } from '../operations/ready/readiness.js';
import { jsonAnswer, needs, problems } from './route-parts.js';

export const readyRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{id}/ready',
  operationId: 'showReadiness',
  tags: ['Reading'],
  summary: 'Check whether an event is ready to begin',
  description:
    'Sends requests to the service and to each sink, which takes some seconds. Changes nothing. The sentences contain IDs, fields and counts, but never a person.',
  ...needs({ right: 'read' }),
  request: {
    params: z.object({ id: idText() }),
    query: z.strictObject({
      workspace: configuredName().optional().describe('Required if several workspaces have a pigeonhole with this ID.'),
    }),
  },
  responses: { 200: jsonAnswer('The checks and their results.', readinessSchema), ...problems(404, 409) },
});

/**
 * `GET /api/pigeonholes/{id}/ready`. Must be registered before `/api/pigeonholes/{workspace}/{id}`, which also matches
 * it.
 */
export function serveReady(app: ApiApp, sources: ApiSources): void {
  app.openapi(readyRoute, async (c) => {
    const place = await knownPigeonhole(c, sources, c.req.valid('param').id, c.req.valid('query').workspace);
    const { workspace, pigeonholeId: id } = place;
    const { pigeonhole, present } = await pigeonholeWithPresent(sources, place);
    const [looked, letters] = await Promise.all([
      sources.checkReady(place),
      deadLetterGroups(sources.ledger, { pigeonhole: `${workspace}/${id}` }),
    ]);
    const served = new Set(pigeonhole.syncs.flatMap((name) => present.config.syncs[name]?.sinks ?? []));
    const checks = inOrder([
      ...workChecks({
        pigeonhole,
        sinks: present.status.sinks.filter(({ name }) => served.has(name)),
        troubles: present.status.problems.filter(
          ({ kind, name }) =>
            kind === 'process' ||
            (kind === 'workspace' && name === workspace) ||
            (kind === 'pigeonhole' && (name === `${workspace}/${id}` || name === `${workspace}/0`)) ||
            (kind === 'sink' && served.has(name)),
        ),
        deadLetters: letters.filter(({ sink }) => served.has(sink)),
      }),
      ...looked.checks,
    ]);
    const { name, status } = looked.pigeonhole;
    return c.json(
      {
        pigeonhole: {
          workspace,
          id,
          ...looked.pigeonhole,
          name: name ?? pigeonhole.name,
          status: status ?? pigeonhole.status,
        },
        ready: isReady(checks),
        asOf: present.now.toISOString(),
        checks,
      },
      200,
    );
  });
}

/** Order of the checks by the first part of their ids: from the event itself to leftovers. */
const order = [
  'event',
  'reading',
  'registrants',
  'profile-fields',
  'sessions',
  'quota',
  'sink',
  'consent',
  'running',
  'parked',
];

function inOrder(checks: readonly ReadyCheck[]): ReadyCheck[] {
  const positionOf = ({ id }: ReadyCheck): number => order.indexOf(id.split(':')[0]!);
  return checks.toSorted((a, b) => positionOf(a) - positionOf(b));
}
