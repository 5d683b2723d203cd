import { createRoute, z } from '@hono/zod-openapi';
import { storedItemCounts } from '../operations/ledger-status.js';
import { statusSchema, quotaViewSchema, type Status } from '../operations/status-view.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audit-log.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { type StatusSources, readStatus, own, configOf, readSnapshot } from '../operations/read-status.js';
import { requireEveryWorkspace, workspaceOf } from './scope.js';
import { recount } from '../ledger/kept-counts.js';
import { quotaByDay, quotaByDaySchema } from '../operations/quota-by-day.js';
import type { UnsettledLane } from '../delivering/read-lanes.js';
import type { MinuteOfChanges } from '../reading/progress.js';
import type { NamedPigeonhole } from '../ledger/pigeonholes.js';
import type { Config } from '../config/config.js';

/** Length of a chart in minutes. */
export const chartMinutes = 60;
const minuteMs = 60_000;

/** Data for the views of syncs, pigeonholes and sinks, read at one moment. */
export interface Present {
  readonly now: Date;
  readonly config: Pick<Config, 'workspaces' | 'syncs' | 'sinks'>;
  readonly status: Status;
  /** Lanes that still receive changes. */
  readonly lanes: readonly UnsettledLane[];
  /** The known pigeonholes, with the syncs that read them. */
  readonly places: readonly NamedPigeonhole[];
}

/** @param workspace the only workspace to read; null: all */
export async function readPresent(sources: StatusSources, workspace: string | null): Promise<Present> {
  return { ...(await readSnapshot(sources, workspace)), config: configOf(sources.config, workspace) };
}

/** Changes in each of the last 60 minutes. */
export const minutesSchema = z
  .array(z.int())
  .length(chartMinutes)
  .readonly()
  .describe('Changes in each of the last 60 minutes, oldest first. The last number covers the current minute so far.');

/**
 * Adds up counts by minute. Pure. Counts of a later minute than `now` belong to the current one: they may be read after
 * `now`, in the next minute.
 */
export function byMinute(counts: readonly MinuteOfChanges[], now: Date): number[] {
  const minutes = Array.from({ length: chartMinutes }, () => 0);
  const present = Math.floor(now.getTime() / minuteMs);
  for (const each of counts) {
    const age = Math.max(0, present - Math.floor(each.minute.getTime() / minuteMs));
    if (age < chartMinutes) minutes[chartMinutes - 1 - age]! += each.changes;
  }
  return minutes;
}

export const statusRoute = createRoute({
  method: 'get',
  path: '/api/status',
  operationId: 'showStatus',
  tags: ['Status'],
  summary: 'Show each workspace, pigeonhole and sink, and the reason for its state',
  ...needs({ right: 'read' }),
  request: {
    query: z.strictObject({
      counts: z
        .string()
        .optional()
        .describe(
          '`items`: also the number of items by list. Any other value: also the number of deliveries by list, sink and state.',
        ),
    }),
  },
  responses: answers('The state of the whole instance.', statusSchema),
});

export function serveStatus(app: ApiApp, sources: StatusSources): void {
  app.openapi(statusRoute, async (c) => {
    const workspace = workspaceOf(c);
    const { counts } = c.req.valid('query');
    const status = await readStatus(sources, counts !== undefined && counts !== 'items', workspace);
    if (counts !== 'items') return c.json(status, 200);
    const items = own(await storedItemCounts(sources.ledger), workspace);
    return c.json({ ...status, counts: { items, deliveries: [] } }, 200);
  });
  app.openapi(recountRoute, async (c) => {
    requireEveryWorkspace(c);
    const { ledger } = sources;
    const wrong = await audited(c, ledger, { action: 'recount', target: null }, () => recount(ledger));
    return c.json({ wrong }, 200);
  });
}

const wrongCountSchema = z
  .object({
    sink: z.string().nullable().describe('Null: a number of items or of import rows.'),
    import: z.int().nullable().describe('The import whose rows are counted; null: a number of items or deliveries.'),
    workspace: z.string(),
    pigeonholeId: z.int(),
    list: z.string().describe('Empty for a number of import rows.'),
    state: z.string().describe('State of the deliveries, or outcome of import rows; empty for a number of items.'),
    reason: z.string().describe('Reason of withheld changes and dead letters, otherwise empty.'),
    kept: z.int().describe('The number before it was corrected.'),
    counted: z.int(),
  })
  .openapi('WrongCount');

export const recountRoute = createRoute({
  method: 'post',
  path: '/api/status/recount',
  operationId: 'recount',
  tags: ['Status'],
  summary: 'Count all items, deliveries and import rows again, and correct the counts that the status shows',
  description:
    'The counts can be wrong only if rows of the store were changed without its triggers, such as by hand. Takes about 20 s for ten million deliveries.',
  ...needs({ right: 'operate', looksLike: 'a recount takes an empty object: {}' }),
  request: { body: jsonBody(z.strictObject({})) },
  responses: answers(
    'The counts are correct. Lists those that were wrong.',
    z.object({ wrong: z.array(wrongCountSchema) }),
    413,
    415,
  ),
});

export const quotasRoute = createRoute({
  method: 'get',
  path: '/api/quota',
  operationId: 'listQuotas',
  tags: ['Reading'],
  summary: "Show the request quota of each workspace's key, and how long it lasts",
  ...needs({ right: 'read' }),
  responses: answers(
    'The quotas, by workspace.',
    z.object({
      workspaces: z.array(
        z.object({
          workspace: z.string(),
          quota: quotaViewSchema.nullable().describe('Null: no request has been made with its key yet.'),
        }),
      ),
    }),
  ),
});

export const quotaByDayRoute = createRoute({
  method: 'get',
  path: '/api/quota/days',
  operationId: 'forecastQuota',
  tags: ['Reading'],
  summary: 'Forecast the requests that reading needs on each day, from the calendar of the events',
  ...needs({ right: 'read' }),
  responses: answers('The forecast, by key of the service.', quotaByDaySchema),
});

export function serveQuotas(app: ApiApp, sources: Pick<StatusSources, 'config' | 'quotas' | 'ledger'>): void {
  app.openapi(quotaByDayRoute, async (c) => {
    const now = sources.ledger.clock.nowMs();
    return c.json(await quotaByDay(sources, { workspace: workspaceOf(c), now }), 200);
  });
  app.openapi(quotasRoute, async (c) => {
    const own = workspaceOf(c);
    const quotas = await sources.quotas();
    const workspaces = Object.keys(sources.config.workspaces)
      .filter((workspace) => own === null || workspace === own)
      .map((workspace) => ({ workspace, quota: quotas.get(workspace) ?? null }));
    return c.json({ workspaces }, 200);
  });
}
