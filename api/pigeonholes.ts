import { createRoute, z } from '@hono/zod-openapi';
import { pausesOf, placeName } from '../ledger/pauses.js';
import { findPigeonholeNumber } from '../ledger/pigeonholes.js';
import { type StreamState, streamStates } from '../reading/stream-facts.js';
import type { CadenceReason } from '../reading/cadence.js';
import { cadenceWords, cadenceShape } from '../operations/freshness.js';
import { latenessMs, type Obstacles } from '../operations/lateness.js';
import { syncsOf } from '../config/syncs.js';
import type { ApiApp, ApiContext } from './api-app.js';
import { answers, needs, withIsoInstants, pageOf, pageQuery, positionOf, pagesBy } from './route-parts.js';
import { groupBy } from '../base/grouping.js';
import { foundByMinute } from '../reading/progress.js';
import { byMinute, chartMinutes, minutesSchema, type Present, readPresent } from './status.js';
import { configuredName, idText, printable, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { requireWorkspace, workspaceOf } from './scope.js';
import type { StatusSources } from '../operations/read-status.js';
import { type PigeonholeView, pigeonholeViewSchema, workStateSchema } from '../operations/status-view.js';
import { troubleSchema } from '../operations/problem.js';

/** The reading state of a pigeonhole. */
const pigeonholeSchema = pigeonholeViewSchema
  .extend({
    workspace: z.string(),
    syncs: z.array(z.string()).readonly().describe('Syncs that read the pigeonhole.'),
    foundByMinute: minutesSchema,
    troubles: z.array(troubleSchema).readonly(),
  })
  .openapi('Pigeonhole');
export type PigeonholeDetails = z.infer<typeof pigeonholeSchema>;

const streamSchema = z
  .object({
    list: z.string(),
    sessionId: z.int().nullable().describe('Null: the list is not read by session.'),
    wanted: z.boolean().describe('False: no sync needs the stream any longer.'),
    order: z.string().describe('Observed order: ascending, descending, unordered or unknown.'),
    checkpoint: z
      .string()
      .nullable()
      .describe('Cursor of the service at which the next poll starts; null: at the beginning.'),
    dueAt: instant().describe('When the next poll is due.'),
    polledAt: instant().nullable(),
    ...cadenceShape,
    lateSeconds: z.number().describe('Seconds since the poll was due; 0: it is on time, or reading is paused.'),
    sweepDueAt: instant().nullable().describe('When the next sweep is due; null: none is planned.'),
    sweptAt: instant().nullable().describe('When the last complete sweep ended.'),
    items: z.int().nullable().describe('Number of items in that sweep.'),
    pages: z.int().nullable(),
    changedAt: instant().nullable(),
    quietReads: z.int().describe('Consecutive reads without a change.'),
    setAside: z.int().describe('Rows in the last complete sweep that have no ID or are nested too deeply.'),
    foreignRows: z
      .int()
      .describe('Rows of other sessions in the last complete sweep, which shows that the service ignores the filter.'),
    failures: z.int(),
    failure: z.string().nullable(),
    goneAt: instant().nullable(),
    sweepPages: z
      .int()
      .nullable()
      .describe('Pages that the sweep in progress has read; null: no sweep is in progress.'),
  })
  .openapi('Stream');
export type StreamView = z.infer<typeof streamSchema>;

export const placeParams = z.object({
  workspace: configuredName(),
  id: idText().describe("0: the workspace's own lists."),
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes',
  operationId: 'listPigeonholes',
  tags: ['Reading'],
  summary: 'List the pigeonholes that are read, with changes by minute and problems',
  ...needs({ right: 'read' }),
  request: {
    query: z.strictObject({
      ...pageQuery,
      workspace: configuredName().optional(),
      sync: configuredName().optional(),
      state: workStateSchema.optional(),
      search: printable(200).optional().describe('Part of the ID or the name, in upper or lower case.'),
    }),
  },
  responses: answers('One page of pigeonholes, sorted by workspace and id.', pageOf(pigeonholeSchema)),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{workspace}/{id}',
  operationId: 'showPigeonhole',
  tags: ['Reading'],
  summary: 'Show a pigeonhole',
  ...needs({ right: 'read' }),
  request: { params: placeParams },
  responses: answers('The state of the pigeonhole.', pigeonholeSchema, 404),
});

export const streamsRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{workspace}/{id}/streams',
  operationId: 'listStreams',
  tags: ['Reading'],
  summary: 'List the streams of a pigeonhole: order, checkpoint, last sweep, due times',
  ...needs({ right: 'read' }),
  request: { params: placeParams, query: z.strictObject(pageQuery) },
  responses: answers('One page of streams, sorted by list and session.', pageOf(streamSchema), 404),
});

const position = z.tuple([positionOf.text, positionOf.int8]);
const pigeonholePages = pagesBy(position, ({ workspace, id }: ListedPigeonhole) => [workspace, id]);
const streamPages = pagesBy(position, ({ list, sessionId }: StreamState) => [list, sessionId ?? 0]);

export function servePigeonholes(app: ApiApp, sources: StatusSources): void {
  const { ledger } = sources;
  app.openapi(listRoute, async (c) => {
    const { limit, after, workspace, sync, state, search } = c.req.valid('query');
    const last = pigeonholePages.endOf(after);
    const own = workspaceOf(c, workspace);
    const present = await readPresent(sources, own);
    const syncsOf = syncsByPlace(present);
    const wanted = present.status.workspaces
      .flatMap(({ name, pigeonholes }) => pigeonholes.map((each) => ({ workspace: name, ...each })))
      .toSorted((a, b) => compare(a.workspace, b.workspace) || a.id - b.id)
      .filter(
        (each) =>
          (last === null || isBehind(each, last)) &&
          (sync === undefined || syncsOf.get(nameOf(each))?.includes(sync)) &&
          (state === undefined || each.state === state) &&
          (search === undefined || `${each.id}\n${each.name ?? ''}`.toLowerCase().includes(search.toLowerCase())),
      );
    const view = await viewOf(sources, present, wanted.slice(0, limit));
    return c.json(pigeonholePages.page(wanted, limit, view), 200);
  });
  app.openapi(showRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    requireWorkspace(c, workspace);
    const present = await readPresent(sources, workspace);
    const found = pigeonholeOf(present, workspace, Number(id));
    const view = await viewOf(sources, present, [found]);
    return c.json(view(found), 200);
  });
  app.openapi(streamsRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    const { limit, after } = c.req.valid('query');
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, { workspace, id });
    const last = streamPages.endOf(after);
    const name = placeName({ workspace, pigeonholeId: Number(id) });
    const [rows, pauses] = await Promise.all([
      streamStates(ledger, pigeonholeNumber, {
        after: last === null ? null : { list: last[0], sessionId: last[1] },
        limit: limit + 1,
      }),
      pausesOf(ledger, [
        { scope: 'workspace', name: workspace },
        { scope: 'pigeonhole', name },
      ]),
    ]);
    const now = new Date(ledger.clock.nowMs());
    const obstacles = { upMs: sources.upMs?.(), hindrances: sources.hindrances?.over(name) };
    const isIdle = pauses.length > 0 || syncsOf(sources.config, workspace).length === 0;
    const view = (row: StreamState): StreamView => viewStream(row, { now, isIdle, ...obstacles });
    return c.json(streamPages.page(rows, limit, view), 200);
  });
}

/**
 * Returns the ledger's number of a pigeonhole, if the caller may see it.
 * @throws {Refused} 403, 404
 */
export async function requirePigeonholeNumber(
  c: ApiContext,
  { ledger }: Pick<StatusSources, 'ledger'>,
  { workspace, id }: z.infer<typeof placeParams>,
): Promise<number> {
  requireWorkspace(c, workspace);
  const pigeonholeNumber = await findPigeonholeNumber(ledger.db, workspace, Number(id));
  if (pigeonholeNumber === undefined) throw notKnown(workspace, id);
  return pigeonholeNumber;
}

function notKnown(workspace: string, id: string | number): Refused {
  return new Refused(404, `no pigeonhole ${workspace}/${id} is known: run "pigeonpost status" to see what exists`);
}

/** A pigeonhole with its workspace. */
interface ListedPigeonhole extends PigeonholeView {
  readonly workspace: string;
}

/** @throws {Refused} 404 */
export function pigeonholeOf({ status }: Pick<Present, 'status'>, workspace: string, id: number): ListedPigeonhole {
  const within = status.workspaces.find(({ name }) => name === workspace);
  const found = within?.pigeonholes.find((each) => each.id === id);
  if (found === undefined) throw notKnown(workspace, id);
  return { workspace, ...found };
}

const nameOf = ({ workspace, id }: Pick<ListedPigeonhole, 'workspace' | 'id'>): string =>
  placeName({ workspace, pigeonholeId: id });

/** Returns the names of the syncs that read each pigeonhole, by `<workspace>/<id>`. Pure. */
export function syncsByPlace({ places }: Pick<Present, 'places'>): ReadonlyMap<string, readonly string[]> {
  return new Map(places.map((place) => [placeName(place), place.syncs]));
}

/** Returns the function that shows each of these pigeonholes. Reads the changes by minute of these alone. */
async function viewOf(
  { ledger }: Pick<StatusSources, 'ledger'>,
  present: Present,
  shown: readonly ListedPigeonhole[],
): Promise<(place: ListedPigeonhole) => PigeonholeDetails> {
  const pigeonholes = shown.map(({ workspace, id }) => ({ workspace, pigeonholeId: id }));
  const found = groupBy(await foundByMinute(ledger, chartMinutes, { pigeonholes, workspace: null }), placeName);
  const troubles = groupBy(
    present.status.problems.filter(({ kind }) => kind === 'pigeonhole'),
    ({ name }) => name,
  );
  const syncsOf = syncsByPlace(present);
  return (place) => {
    const name = nameOf(place);
    return {
      ...place,
      syncs: syncsOf.get(name) ?? [],
      foundByMinute: byMinute(found.get(name) ?? [], present.now),
      troubles: troubles.get(name) ?? [],
    };
  };
}

function isBehind({ workspace, id }: ListedPigeonhole, [lastWorkspace, lastId]: readonly [string, number]): boolean {
  const order = compare(workspace, lastWorkspace);
  return order > 0 || (order === 0 && id > lastId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * @param state.now current time by the database's clock, which also sets the instants of the row
 * @param state.isIdle whether nothing is read, because of a pause or because no sync uses the workspace
 */
function viewStream(
  { wantedMs, ...row }: StreamState,
  { now, isIdle, ...obstacles }: { readonly now: Date; readonly isIdle: boolean } & Obstacles,
): StreamView {
  const reason = row.reason as CadenceReason | null;
  const isRead = row.wanted && row.goneAt === null && !isIdle;
  const reading = { reason, everyMs: row.everyMs, readAt: row.polledAt, dueAt: row.dueAt };
  return {
    ...withIsoInstants(row),
    reason,
    cadence: cadenceWords({ reason, everyMs: row.everyMs, wantedMs }),
    lateSeconds: isRead ? latenessMs(reading, now, obstacles) / 1000 : 0,
  };
}
