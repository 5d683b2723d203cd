import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { placeName } from '../ledger/pauses.js';
import { pigeonholeNames } from '../ledger/pigeonholes.js';
import type { StatusSources } from '../operations/read-status.js';
import { Refused } from './problem.js';
import { workspaceOf } from './scope.js';
import { readPresent } from './status.js';
import { createRoute, z } from '@hono/zod-openapi';
import { deadLetterGroups } from '../delivering/dead-letters.js';
import { pigeonholeOf, syncsByPlace } from './pigeonholes.js';
import { configuredName, idText } from '../base/printable.js';
import { selections } from '../operations/checks.js';
import { isReady, readinessSchema, workChecks } from '../operations/ready/readiness.js';
import { answers, needs } from './route-parts.js';

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
  responses: answers('The checks and their results.', readinessSchema, 404, 409),
});

/**
 * `GET /api/pigeonholes/{id}/ready`. Must be registered before `/api/pigeonholes/{workspace}/{id}`, which also matches
 * it.
 */
export function serveReady(app: ApiApp, sources: ApiSources): void {
  app.openapi(readyRoute, async (c) => {
    const place = await knownPigeonhole(c, sources, c.req.valid('param').id, c.req.valid('query').workspace);
    const { workspace, pigeonholeId: id } = place;
    const present = await readPresent(sources, workspace);
    const pigeonhole = pigeonholeOf(present, workspace, id);
    const [looked, letters] = await Promise.all([
      sources.checkReady(place),
      deadLetterGroups(sources.ledger, { pigeonhole: `${workspace}/${id}`, sentBy: sources.config }),
    ]);
    const syncs = syncsByPlace(present).get(placeName(place)) ?? [];
    const served = new Set(syncs.flatMap((name) => present.config.syncs[name]?.sinks ?? []));
    const found = {
      ...workChecks({
        pigeonhole: { ...pigeonhole, syncs },
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
    };
    const checks = selections.ready.flatMap((check) => found[check]);
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

/**
 * Returns the pigeonhole with an ID, and with a workspace if several have that ID.
 * @throws {Refused} 404 if none is known, 409 if several workspaces have it
 */
async function knownPigeonhole(
  c: ApiContext,
  { ledger, config }: Pick<StatusSources, 'ledger' | 'config'>,
  id: string,
  asked: string | undefined,
): Promise<{ workspace: string; pigeonholeId: number }> {
  const only = workspaceOf(c, asked);
  const known = (await pigeonholeNames(ledger, only)).filter(
    ({ workspace, pigeonholeId }) =>
      pigeonholeId === Number(id) && pigeonholeId !== 0 && Object.hasOwn(config.workspaces, workspace),
  );
  const [first, ...others] = known;
  if (first === undefined) {
    throw new Refused(
      404,
      `no pigeonhole ${only === null ? '' : `${only}/`}${id} is known: run "pigeonpost status" to see what exists`,
    );
  }
  if (others.length > 0) {
    const names = known.map(({ workspace }) => `${workspace}/${id}`).join(' or ');
    throw new Refused(409, `several workspaces have a pigeonhole ${id}: name one of them, ${names}`);
  }
  return { workspace: first.workspace, pigeonholeId: first.pigeonholeId };
}
