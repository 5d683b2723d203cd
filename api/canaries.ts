import { createRoute, z } from '@hono/zod-openapi';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { knownPigeonhole } from './known-pigeonhole.js';
import { pigeonholeWithPresent } from './pigeonholes.js';
import { configuredName, idText } from '../base/printable.js';
import { Refused } from './problem.js';
import { type ReadyCheck, readyCheckSchema } from './readiness.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import type { StatusSources } from './status.js';

export interface CanarySources extends StatusSources {
  /** Sends an invented item through each of these sinks and takes it back: a line for each. */
  readonly sendCanaries: (
    pigeonhole: { readonly workspace: string; readonly pigeonholeId: number },
    sinks: readonly string[],
  ) => Promise<readonly ReadyCheck[]>;
}

const mostSinks = 100;

const askedSchema = z
  .strictObject({
    workspace: configuredName().optional().describe('Where several have that id.'),
    sinks: z
      .array(configuredName())
      .min(1)
      .max(mostSinks)
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
export function serveCanaries(app: ApiApp, sources: CanarySources): void {
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
