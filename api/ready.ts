import type { ApiSources } from './api-sources.js';
import { createRoute, z } from '@hono/zod-openapi';
import { deadLetterGroups } from '../delivering/dead-letters.js';
import type { ApiApp } from './api-app.js';
import { knownPigeonhole, pigeonholeWithPresent } from './pigeonholes.js';
import { configuredName, idText } from '../base/printable.js';
import { isReady, readinessSchema, type ReadyCheck, readyCheckSchema } from '../operations/ready/readiness.js';
import { jsonAnswer, needs, problems, jsonBody } from './route-parts.js';
import { workChecks } from '../operations/ready/work-checks.js';
import { audited } from './audited.js';
import { Refused } from './problem.js';

const readyRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{id}/ready',
  operationId: 'showReadiness',
  tags: ['Reading'],
  summary: 'The evening before: whether an event can begin, as one list',
  description:
    'Asks the service and each sink, so it takes some seconds. Changes nothing. The sentences name ids, fields and counts, never a person.',
  ...needs({ right: 'read' }),
  request: {
    params: z.object({ id: idText() }),
    query: z.strictObject({ workspace: configuredName().optional().describe('Where several have that id.') }),
  },
  responses: { 200: jsonAnswer('The list.', readinessSchema), ...problems(404, 409) },
});

/** `GET /api/pigeonholes/{id}/ready`. To be served before `/api/pigeonholes/{workspace}/{id}`, which looks like it. */
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
        troubles: present.troubles.filter(
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
    const { name, status, startDate, endDate, timezone } = looked.pigeonhole;
    return c.json(
      {
        pigeonhole: {
          workspace,
          id,
          name: name ?? pigeonhole.name,
          status: status ?? pigeonhole.status,
          startDate,
          endDate,
          timezone,
        },
        ready: isReady(checks),
        asOf: present.now.toISOString(),
        checks,
      },
      200,
    );
  });
}

/** From the event itself to what is left over; those of each sink together. */
const order = [
  'event',
  'reading',
  'registrants',
  'profile-fields',
  'sessions',
  'quota',
  'sink',
  'consent',
  'canary',
  'running',
  'parked',
];

function inOrder(checks: readonly ReadyCheck[]): ReadyCheck[] {
  const positionOf = ({ id }: ReadyCheck): number => order.indexOf(id.split(':')[0]!);
  return checks.toSorted((a, b) => positionOf(a) - positionOf(b));
}

const maxSinks = 100;

const askedSchema = z
  .strictObject({
    workspace: configuredName().optional().describe('Where several have that id.'),
    sinks: z
      .array(configuredName())
      .min(1)
      .max(maxSinks)
      .describe('The sinks that a person has agreed to; each gets one invented item.'),
  })
  .openapi('CanaryRequest');

export const canariesSchema = z
  .object({ canaries: z.array(readyCheckSchema).readonly().describe('A line for each sink.') })
  .openapi('Canaries');
export type Canaries = z.infer<typeof canariesSchema>;

const canaryRoute = createRoute({
  method: 'post',
  path: '/api/pigeonholes/{id}/canaries',
  operationId: 'sendCanaries',
  tags: ['Actions'],
  summary: 'Send an invented item through sinks of an event, and take it back',
  description:
    'The evening before: what a check cannot tell. Each line says what was sent, what was answered, and what stays there. Takes up to two minutes.',
  ...needs({ right: 'operate', looksLike: 'it has "sinks", a list of names, and may have "workspace"' }),
  request: { params: z.object({ id: idText() }), body: jsonBody(askedSchema) },
  responses: { 200: jsonAnswer('How it went.', canariesSchema), ...problems(404, 409, 413, 415) },
});

/** `POST /api/pigeonholes/{id}/canaries`. */
export function serveCanaries(app: ApiApp, sources: ApiSources): void {
  app.openapi(canaryRoute, async (c) => {
    const { workspace: asked, sinks } = c.req.valid('json');
    const place = await knownPigeonhole(c, sources, c.req.valid('param').id, asked);
    const name = `${place.workspace}/${place.pigeonholeId}`;
    const { pigeonhole, present } = await pigeonholeWithPresent(sources, place);
    const served = new Set(pigeonhole.syncs.flatMap((sync) => present.config.syncs[sync]?.sinks ?? []));
    const other = sinks.find((sink) => !served.has(sink));
    if (other !== undefined) throw new Refused(404, `sink ${other} is sent nothing of pigeonhole ${name}`);
    const wanted = [...new Set(sinks)];
    const canaries = await audited(
      c,
      sources.ledger,
      { action: 'canary', target: `pigeonhole:${name}`, detail: { sinks: wanted.join(' ') } },
      () => sources.sendCanaries(place, wanted),
    );
    return c.json({ canaries }, 200);
  });
}
