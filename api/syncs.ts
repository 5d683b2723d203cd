import { groupByCause } from '../operations/group-by-cause.js';
import { createRoute, z } from '@hono/zod-openapi';
import { combineFreshness, freshnessSummary } from '../operations/freshness.js';
import type { ApiApp } from './api-app.js';
import { placeName } from '../ledger/pauses.js';
import { deliveredByMinute, foundByMinute } from '../reading/progress.js';
import { byMinute, chartMinutes, minutesSchema, type Present, readPresent } from './status.js';
import { configuredName, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { answers, needs } from './route-parts.js';
import { workspaceOf } from './scope.js';
import type { StatusSources } from '../operations/read-status.js';
import { type Status, workStateSchema } from '../operations/status-view.js';
import { troubleSchema } from '../operations/problem.js';

/** A configured sync with the sums over all its pigeonholes. */
const syncSchema = z
  .object({
    name: z.string(),
    workspace: z.string(),
    sinks: z.array(z.string()).readonly(),
    state: workStateSchema.describe('State of the pigeonhole or workspace with the most serious problem.'),
    pigeonholes: z.int(),
    live: z.int().describe('Number of these that are live now.'),
    backfilling: z.int().describe('Number of these that are being read for the first time.'),
    freshAsOf: instant().nullable().describe('The same as `freshness.readAt`.'),
    freshness: z
      .object(freshnessSummary)
      .describe(
        'Freshness of its pigeonholes with live lists together; of all its pigeonholes if none has a live list. Paused pigeonholes count for `readAt` only if no other has live lists. `nextAt` is null as soon as one is paused.',
      ),
    every: z
      .object({
        live: z.int(),
        quiet: z
          .int()
          .nullable()
          .describe('Longest interval outside session times; null: not configured, so the default slows down.'),
        new: z.int(),
        upcoming: z.int(),
        ended: z.int(),
        sweep: z.int(),
      })
      .describe('The configured intervals in milliseconds. `freshness` of a pigeonhole shows those in force.'),
    foundByMinute: minutesSchema,
    troubles: z.array(troubleSchema).readonly(),
  })
  .openapi('Sync');
export type SyncView = z.infer<typeof syncSchema>;

const overviewSchema = z
  .object({
    now: instant(),
    settled: z
      .boolean()
      .describe(
        'Whether nothing is left to read or deliver and nothing is paused, waiting or failing, as in the status.',
      ),
    configuration: z.int(),
    syncs: z.array(syncSchema).readonly(),
    foundByMinute: minutesSchema,
    deliveredByMinute: minutesSchema.describe('The same as `foundByMinute`, for deliveries of all sinks together.'),
    troubles: z.array(troubleSchema).readonly().describe('All problems, most serious first.'),
  })
  .openapi('Overview');
export type Overview = z.infer<typeof overviewSchema>;

export const overviewRoute = createRoute({
  method: 'get',
  path: '/api/overview',
  operationId: 'showOverview',
  tags: ['Status'],
  summary: 'Summarize whether data flows, and what is wrong if it does not',
  ...needs({ right: 'read' }),
  responses: answers('The state of the instance now.', overviewSchema),
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/syncs',
  operationId: 'listSyncs',
  tags: ['Reading'],
  summary: 'List the configured syncs',
  ...needs({ right: 'read' }),
  responses: answers('The syncs, sorted by name.', z.object({ syncs: z.array(syncSchema).readonly() })),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/syncs/{name}',
  operationId: 'showSync',
  tags: ['Reading'],
  summary: 'Show a sync; its pigeonholes are at /api/pigeonholes?sync=…',
  ...needs({ right: 'read' }),
  request: { params: z.object({ name: configuredName() }) },
  responses: answers('The state of the sync.', syncSchema, 404),
});

export function serveSyncs(app: ApiApp, sources: StatusSources): void {
  app.openapi(overviewRoute, async (c) => {
    const workspace = workspaceOf(c);
    const [present, found, delivered] = await Promise.all([
      readPresent(sources, workspace),
      foundByMinute(sources.ledger, chartMinutes, { pigeonholes: null, workspace }),
      deliveredByMinute(sources.ledger, chartMinutes, { sink: null, workspace }),
    ]);
    const { now, status } = present;
    return c.json(
      {
        now: now.toISOString(),
        settled: status.settled,
        configuration: status.configuration,
        syncs: viewSyncs(present, found),
        foundByMinute: byMinute(found, now),
        deliveredByMinute: byMinute(delivered, now),
        troubles: groupByCause(status.problems),
      },
      200,
    );
  });
  app.openapi(listRoute, async (c) => {
    return c.json({ syncs: await readSyncs(sources, workspaceOf(c)) }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const { name } = c.req.valid('param');
    const syncs = await readSyncs(sources, workspaceOf(c));
    const found = syncs.find((sync) => sync.name === name);
    if (found === undefined) throw new Refused(404, `no sync ${name} is configured: GET /api/syncs lists the syncs`);
    return c.json(found, 200);
  });
}

async function readSyncs(sources: StatusSources, workspace: string | null): Promise<SyncView[]> {
  const [present, found] = await Promise.all([
    readPresent(sources, workspace),
    foundByMinute(sources.ledger, chartMinutes, { pigeonholes: null, workspace }),
  ]);
  return viewSyncs(present, found);
}

/** The changes that were found in pigeonholes, by minute. */
type Found = Awaited<ReturnType<typeof foundByMinute>>;

function viewSyncs(present: Present, found: Found): SyncView[] {
  return Object.keys(present.config.syncs)
    .toSorted()
    .map((name) => {
      const own = present.places.filter(({ syncs }) => syncs.includes(name));
      const names = new Set(own.map(placeName));
      const ownFound = found.filter((each) => names.has(placeName(each)));
      return viewSync(name, names, present, byMinute(ownFound, present.now));
    });
}

const worstFirst = ['paused', 'failing', 'waiting', 'backfilling', 'working'] as const;

/**
 * Builds the view of a sync. Pure.
 * @param own `<workspace>/<id>` of the pigeonholes that the sync reads
 * @param found the changes in each minute of a chart
 */
function viewSync(
  name: string,
  own: ReadonlySet<string>,
  { config, status }: Present,
  found: readonly number[],
): SyncView {
  const { workspace, sinks, everyMs } = config.syncs[name]!;
  const within = status.workspaces.find((each) => each.name === workspace);
  const pigeonholes = (within?.pigeonholes ?? []).filter(({ id }) => own.has(`${workspace}/${id}`));
  const present = pigeonholes.filter(({ goneAt }) => goneAt === null);
  const live = present.filter((each) => each.status === 'live');
  const freshness = combineFreshness(present.map((each) => each.freshness));
  const states = [...pigeonholes.map(({ state }) => state), ...(within === undefined ? [] : [within.state])].filter(
    // A workspace is `failing` if one of its pigeonholes is, but that one may belong to another sync.
    (state, position) => position < pigeonholes.length || state === 'paused' || state === 'waiting',
  );
  const isOwn = (trouble: Status['problems'][number]): boolean =>
    (trouble.kind === 'pigeonhole' && own.has(trouble.name)) ||
    (trouble.kind === 'workspace' && trouble.name === workspace) ||
    (trouble.kind === 'sink' && sinks.includes(trouble.name)) ||
    trouble.kind === 'process';
  return {
    name,
    workspace,
    sinks: [...sinks],
    state: worstFirst.find((state) => states.includes(state)) ?? 'working',
    pigeonholes: pigeonholes.length,
    live: live.length,
    backfilling: pigeonholes.filter(({ state }) => state === 'backfilling').length,
    freshAsOf: freshness.readAt,
    freshness,
    every: {
      live: everyMs.live,
      quiet: everyMs.quiet ?? null,
      new: everyMs.new,
      upcoming: everyMs.upcoming,
      ended: everyMs.ended,
      sweep: everyMs.sweep,
    },
    foundByMinute: found,
    troubles: status.problems.filter(isOwn),
  };
}
