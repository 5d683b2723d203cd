import { listNames } from '../base/lists.js';
import { createRoute, z } from '@hono/zod-openapi';
import {
  type DeliveryState,
  deliveryStates,
  type LaneState,
  laneStates,
  outcomeCounts,
} from '../delivering/read-lanes.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { answers, jsonBody, needs, withIsoInstants, pageOf, pageQuery, positionOf, pagesBy } from './route-parts.js';
import type { StatusSources } from '../operations/read-status.js';
import { deliveredByMinute } from '../reading/progress.js';
import { byMinute, chartMinutes, minutesSchema, type Present, readPresent } from './status.js';
import { requirePigeonholeNumber } from './pigeonholes.js';
import { audited } from './audit-log.js';
import { isObserving } from '../base/delivery-words.js';
import { configuredName, pigeonholeName, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { notKnown, requireSink, seesSink, sinkTarget, workspaceOf } from './scope.js';
import { sinkTestSchema, type SinkTest } from '../operations/action.js';
import { type SinkView, sinkViewSchema } from '../operations/status-view.js';
import { troubleSchema } from '../operations/problem.js';
import { causeText, reasonText } from '../sinks/reason-words.js';

/** State of a sink over all its pigeonholes. */
const sinkSchema = sinkViewSchema
  .extend({
    syncs: z.array(z.string()).readonly().describe('Syncs that send to the sink.'),
    undeliveredSince: instant()
      .nullable()
      .describe(
        'When the oldest unsettled change was found, which shows how far the sink is behind; null: every change is settled.',
      ),
    deliveredByMinute: minutesSchema,
    troubles: z.array(troubleSchema).readonly(),
  })
  .openapi('Sink');
export type SinkDetails = z.infer<typeof sinkSchema>;

const laneSchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    watermark: z
      .int()
      .describe(
        'Every change up to this sequence is settled, has a delivery, or is one that the sink does not receive.',
      ),
    newest: z.int().describe('Sequence of the newest change.'),
    behind: z.int().describe('Changes after the watermark, of the lists that the sink accepts.'),
    open: z.int().describe('Deliveries that have started and are not settled.'),
    delivered: z.int(),
    deliveredAt: instant().nullable(),
    undeliveredSince: instant().nullable(),
    waitsFor: z.string().nullable().describe('The last message about the oldest unsettled delivery.'),
    failure: z.string().nullable(),
    failingSince: instant().nullable(),
    retryAt: instant().nullable(),
  })
  .openapi('Lane');
export type LaneView = z.infer<typeof laneSchema>;

const outcomeSchema = z
  .object({
    list: z.string().describe('Empty for a long backlog, which is not counted by list.'),
    state: z.enum(['waiting', 'sending', 'retry', 'withheld', 'dead']),
    reason: z.string().nullable().describe('A stable code; null for changes in flight.'),
    words: z.string().nullable().describe('The reason in words.'),
    changes: z.int(),
  })
  .openapi('Outcome');

const deliverySchema = z
  .object({
    sequence: z.int(),
    list: z.string(),
    key: z.string(),
    revision: z.int(),
    state: z.string(),
    reason: z.string().nullable(),
    detail: z.string().nullable().describe('The response of the destination.'),
    attempts: z.int(),
    identity: z.boolean().nullable(),
    dueAt: instant().nullable(),
    at: instant(),
    replayed: z.boolean(),
  })
  .openapi('Delivery');

const nameParams = z.object({ name: configuredName() });

export const listRoute = createRoute({
  method: 'get',
  path: '/api/sinks',
  operationId: 'listSinks',
  tags: ['Sinks'],
  summary: 'List the configured sinks',
  ...needs({ right: 'read' }),
  responses: answers('The sinks in the order of the configuration file.', z.object({ sinks: z.array(sinkSchema) })),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}',
  operationId: 'showSink',
  tags: ['Sinks'],
  summary: 'Show a sink',
  ...needs({ right: 'read' }),
  request: { params: nameParams },
  responses: answers('The state of the sink.', sinkSchema, 404),
});

export const lanesRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/lanes',
  operationId: 'listLanes',
  tags: ['Sinks'],
  summary: 'Show the progress of a sink in each pigeonhole: watermark, backlog and failures',
  ...needs({ right: 'read' }),
  request: { params: nameParams, query: z.strictObject(pageQuery) },
  responses: answers('One page of lanes, sorted by pigeonhole.', pageOf(laneSchema), 404),
});

export const outcomesRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/outcomes',
  operationId: 'listOutcomes',
  tags: ['Sinks'],
  summary: 'Count changes that a sink has not received: in flight, withheld by reason, refused by cause',
  ...needs({ right: 'read' }),
  request: { params: nameParams },
  responses: answers('The outcomes, most frequent first.', z.object({ outcomes: z.array(outcomeSchema) }), 404),
});

export const deliveriesRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/deliveries',
  operationId: 'listDeliveries',
  tags: ['Sinks'],
  summary: 'List the deliveries of a sink in a pigeonhole, newest first',
  ...needs({ right: 'read' }),
  request: {
    params: nameParams,
    query: z.strictObject({
      ...pageQuery,
      pigeonhole: pigeonholeName(),
      state: z.enum(['waiting', 'sending', 'retry', 'delivered', 'withheld', 'superseded', 'dead']).optional(),
      list: z.enum(listNames).optional(),
    }),
  },
  responses: answers('One page of deliveries.', pageOf(deliverySchema), 404),
});

export const testRoute = createRoute({
  method: 'post',
  path: '/api/sinks/{name}/test',
  operationId: 'testSink',
  tags: ['Sinks'],
  summary: 'Send a test message through a sink',
  description:
    'For sinks of type `webhook` and `slack`. For any other type the response is 409, because a test would create an invented record among those of people. A paused or observing sink sends nothing.',
  ...needs({ right: 'operate', looksLike: 'a test of a sink takes an empty object: {}' }),
  request: { params: nameParams, body: jsonBody(z.strictObject({})) },
  responses: answers('The result of the test.', sinkTestSchema, 404, 409, 413, 415),
});

const lanePages = pagesBy(z.tuple([positionOf.text, positionOf.int8]), (row: LaneState) => [
  row.workspace,
  row.pigeonholeId,
]);
const deliveryPages = pagesBy(z.tuple([positionOf.int8, positionOf.int4]), (row: DeliveryState) => [
  row.sequence,
  row.replay,
]);

export function serveSinks(app: ApiApp, sources: ApiSources): void {
  const { ledger } = sources;
  const known = (c: ApiContext, name: string): void => {
    if (Object.hasOwn(sources.config.sinks, name) && seesSink(c, sources, name)) return;
    throw notKnown(c, sources, { kind: 'sink', name });
  };
  app.openapi(listRoute, async (c) => {
    return c.json({ sinks: await readSinks(sources, workspaceOf(c), null) }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const { name } = c.req.valid('param');
    known(c, name);
    const [sink] = await readSinks(sources, workspaceOf(c), name);
    return c.json(sink!, 200);
  });
  app.openapi(lanesRoute, async (c) => {
    const { name } = c.req.valid('param');
    const { limit, after } = c.req.valid('query');
    known(c, name);
    const last = lanePages.endOf(after);
    const rows = await laneStates(ledger, {
      sink: name,
      workspace: workspaceOf(c),
      after: last === null ? null : { workspace: last[0], pigeonholeId: last[1] },
      limit: limit + 1,
      sentBy: sources.config,
    });
    return c.json(lanePages.page(rows, limit, viewLane), 200);
  });
  app.openapi(outcomesRoute, async (c) => {
    const { name } = c.req.valid('param');
    known(c, name);
    const workspace = workspaceOf(c);
    const { status, lanes } = await readPresent(sources, workspace);
    const isObserved = isObserving(status.sinks.find((sink) => sink.name === name)!);
    const behind = isObserved ? [] : lanes.filter(({ sink }) => sink === name);
    const counts = await outcomeCounts(ledger, { sink: name, workspace, behind, sentBy: sources.config });
    const outcomes = counts.map(({ state, reason, ...row }) => ({
      ...row,
      state: state as z.infer<typeof outcomeSchema>['state'],
      reason,
      words: reason === null ? null : state === 'dead' ? causeText(reason).meaning : reasonText(reason),
    }));
    return c.json({ outcomes }, 200);
  });
  app.openapi(testRoute, async (c) => {
    const { name } = c.req.valid('param');
    known(c, name);
    requireSink(c, sources, name);
    const target = sinkTarget(sources, name);
    const hasFailed = ({ delivered }: SinkTest): boolean => !delivered;
    const result = await audited(c, ledger, { action: 'test-sink', target, hasFailed }, async () => {
      const tested = await sources.testSink(name);
      if (tested === 'unknown') throw notKnown(c, sources, { kind: 'sink', name });
      if ('refused' in tested) throw new Refused(409, tested.refused);
      return tested;
    });
    return c.json(result, 200);
  });
  app.openapi(deliveriesRoute, async (c) => {
    const { name } = c.req.valid('param');
    const { limit, after, pigeonhole, state, list } = c.req.valid('query');
    const [workspace, id] = pigeonhole.split('/');
    known(c, name);
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, { workspace: workspace!, id: id! });
    const last = deliveryPages.endOf(after);
    const rows = await deliveryStates(ledger, {
      sink: name,
      pigeonholeNumber,
      state: state ?? null,
      list: list ?? null,
      before: last === null ? null : { sequence: last[0], replay: last[1] },
      limit: limit + 1,
    });
    return c.json(deliveryPages.page(rows, limit, viewDelivery), 200);
  });
}

/** @param only name of the only sink to return; null: all */
async function readSinks(
  sources: StatusSources,
  workspace: string | null,
  only: string | null,
): Promise<SinkDetails[]> {
  const [present, delivered] = await Promise.all([
    readPresent(sources, workspace),
    deliveredByMinute(sources.ledger, chartMinutes, { sink: only, workspace }),
  ]);
  return present.status.sinks
    .filter(({ name }) => only === null || name === only)
    .map((sink) => {
      const own = delivered.filter((each) => each.sink === sink.name);
      return viewSink(sink, present, byMinute(own, present.now));
    });
}

/** @param delivered the changes in each minute of a chart */
function viewSink(sink: SinkView, { config, status, lanes }: Present, delivered: readonly number[]): SinkDetails {
  const { name } = sink;
  const waiting = lanes.flatMap((lane) =>
    lane.sink === name && lane.undeliveredSince !== null ? [lane.undeliveredSince.getTime()] : [],
  );
  return {
    ...sink,
    syncs: Object.keys(config.syncs).filter((sync) => config.syncs[sync]!.sinks.includes(name)),
    undeliveredSince: waiting.length === 0 ? null : new Date(Math.min(...waiting)).toISOString(),
    deliveredByMinute: delivered,
    troubles: status.problems.filter((trouble) => trouble.kind === 'sink' && trouble.name === name),
  };
}

function viewLane({ sink: _, waitsSince: __, ...lane }: LaneState): LaneView {
  return withIsoInstants(lane);
}

function viewDelivery({ replay, updatedAt, ...row }: DeliveryState): z.infer<typeof deliverySchema> {
  return withIsoInstants({ ...row, at: updatedAt, replayed: replay > 0 });
}
