import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { setTimeout as sleep } from 'node:timers/promises';
import { listNames } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  type FeedChange,
  feedChanges,
  type FeedFilter,
  feedHeads,
  newestChanges,
  type FeedPosition,
} from '../ledger/shown-items.js';
import { LiveDeliveries as FollowedDeliveries } from '../operations/live-deliveries.js';
import { audited } from './audit-log.js';
import { authenticate } from './authenticate.js';
import { requirePigeonholeNumber } from './pigeonholes.js';
import { itemNameSchema, withNames } from './item-names.js';
import { configuredName, pigeonholeName, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { needs, personalSchema, problems, withIsoInstants } from './route-parts.js';
import { wantsPersonal, workspaceOf } from './scope.js';

/** One change in the stream. */
const liveChangeSchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    sequence: z.int(),
    list: z.string(),
    key: z.string(),
    revision: z.int(),
    kind: z.string(),
    sessionId: z.int().nullable(),
    visibility: z.string().nullable(),
    foundAt: instant(),
    name: itemNameSchema,
    data: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .describe('Content of the item; absent unless personal data was requested.'),
  })
  .openapi('LiveChange');

/** The data of an event `changes`. */
const liveChangesSchema = z
  .object({
    changes: z.array(liveChangeSchema),
    skipped: z.int().describe('Number of changes that were left out because there were too many to follow.'),
  })
  .openapi('LiveChanges');
export type LiveChanges = z.infer<typeof liveChangesSchema>;

/** The data of an event `deliveries`. */
const liveDeliveriesSchema = z
  .object({
    deliveries: z.array(
      z.object({
        workspace: z.string(),
        pigeonholeId: z.int(),
        sequence: z.int().describe('That of the change.'),
        sinks: z
          .array(
            z.object({
              sink: z.string(),
              state: z
                .enum(['has', 'waits', 'not', 'refused'])
                .describe(
                  '`has`: it accepted the change; `waits`: it will be sent; `not`: withheld or superseded; `refused`: a dead letter.',
                ),
              words: z.string().nullable().describe('Why, in words.'),
            }),
          )
          .readonly()
          .describe('The sinks that receive the list of the change.'),
      }),
    ),
  })
  .openapi('LiveDeliveries');
export type LiveDeliveries = z.infer<typeof liveDeliveriesSchema>;

/** Interval of comments, which keep a proxy from closing a silent connection. */
const heartbeatMs = 15_000;
/** Maximum time until a revoked or expired token ends its streams. */
const askAgainAfterMs = 60_000;
/** Interval at which a stream looks for changes. */
const defaultEveryMs = 1000;
/** Number of earlier changes whose deliveries a stream follows that continues after a lost connection. */
const resumed = 100;
/** Maximum number of changes of one pigeonhole in one event. */
const maxAtOnce = 200;
/** A client that is further behind receives only the newest changes: a first read produces thousands a second. */
const maxBehind = 2000;
/** Maximum number of streams. Each costs one statement a second. */
const maxStreams = 100;

const liveQuery = z.strictObject({
  workspace: configuredName().optional(),
  pigeonhole: pigeonholeName().optional(),
  list: z.enum(listNames).optional(),
  recent: z.coerce.number().int().min(0).max(500).default(0).describe('Number of past changes to send first.'),
  after: z.string().max(12_000).optional().describe('ID of the last event that was received.'),
  personal: personalSchema,
});

export const liveRoute = createRoute({
  method: 'get',
  path: '/api/changes/live',
  operationId: 'followChanges',
  tags: ['Items'],
  summary: 'Stream changes as they are found, as server-sent events',
  description:
    'Events named `changes` have `LiveChanges` as their data. Their ID is a position: with it as `Last-Event-ID` or `after`, the stream continues without a gap or a repetition. Events named `deliveries` have `LiveDeliveries`: what the sinks have of changes that were sent before.',
  ...needs({ right: 'read' }),
  request: {
    query: liveQuery,
  },
  responses: {
    200: {
      description: 'Events are sent until either side closes the connection.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    ...problems(404),
  },
});

export function serveLiveChanges(app: ApiApp, sources: ApiSources): void {
  app.openAPIRegistry.register('LiveChanges', liveChangesSchema);
  app.openAPIRegistry.register('LiveDeliveries', liveDeliveriesSchema);
  const open = new Set<object>();
  app.openapi(liveRoute, async (c) => {
    // Counted before the first await. Otherwise requests that arrive at the same time could all pass this check.
    if (open.size >= maxStreams) {
      throw new Refused(503, 'too many clients follow the changes: close other pages', {
        headers: { 'retry-after': '30' },
      });
    }
    const stream = {};
    open.add(stream);
    const release = (): void => void open.delete(stream);
    try {
      const feed = await feedOf(c, sources, c.req.valid('query'));
      if (c.req.method !== 'HEAD') return events(follow(feed, sources, c, release)) as never; // the types of answers cover JSON and texts, but no streams
    } catch (error) {
      release();
      throw error;
    }
    release();
    return events('') as never;
  });
}

/** @throws {Refused} 400, 403, 404 */
async function feedOf(c: ApiContext, sources: ApiSources, query: z.output<typeof liveQuery>): Promise<Feed> {
  const { workspace, pigeonhole, list, recent, after, personal } = query;
  const place = pigeonhole === undefined ? null : await knownPlace(c, sources, pigeonhole);
  const choice = { workspace: workspaceOf(c, workspace), pigeonhole: place, list: list ?? null };
  const seen = c.req.header('last-event-id') ?? after;
  const from = seen === undefined ? null : positionFrom(seen);
  if (from === undefined) throw new Refused(400, '"after" must be the ID of an event of this stream, unchanged');
  const shows = wantsPersonal(c, personal);
  const { liveEveryMs = defaultEveryMs } = sources;
  const begin = async (): Promise<Feed> =>
    await startFeed(sources.ledger, choice, { from, recent, personal: shows, liveEveryMs });
  if (!shows) return await begin();
  const target = place === null ? null : `pigeonhole:${place}`;
  return await audited(c, sources.ledger, { action: 'follow-personal', target, detail: { list: choice.list } }, begin);
}

/**
 * Returns a pigeonhole in the ledger's form. An unknown one is refused, because its stream would stay silent for ever.
 * @throws {Refused} 403, 404
 */
async function knownPlace(c: ApiContext, sources: ApiSources, name: string): Promise<string> {
  const [workspace, id] = name.split('/') as [string, string];
  await requirePigeonholeNumber(c, sources, { workspace, id });
  return `${workspace}/${Number(id)}`;
}

function events(body: ReadableStream | string): Response {
  // Without this header, proxies such as nginx buffer an answer until it ends.
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
}

/** The events of a stream, in order. Each is read only when the client accepts more, so a slow client costs no memory. */
interface Feed {
  /** The next event; null: nothing has changed. */
  next(): Promise<string | null>;
}

/** @throws {Refused} 400 if there are too many pigeonholes to follow */
async function startFeed(
  ledger: Ledger,
  choice: FeedFilter,
  {
    from,
    recent,
    personal,
    liveEveryMs,
  }: {
    readonly from: ReadonlyMap<number, number> | null;
    readonly recent: number;
    readonly personal: boolean;
    /** Minimum time between two reads of the deliveries. */
    readonly liveEveryMs: number;
  },
): Promise<Feed> {
  const heads = await feedHeads(ledger, choice);
  if (positionText(heads) === undefined) {
    throw new Refused(400, 'there are too many pigeonholes to follow at once: name a workspace or a pigeonhole');
  }
  const { list } = choice;
  // A restored ledger counts from an earlier sequence: a position beyond its head would hide the next changes.
  let position = new Map(
    from === null
      ? heads
      : [...heads].map(([pigeonholeNumber, head]) => [
          pigeonholeNumber,
          Math.min(from.get(pigeonholeNumber) ?? 0, head),
        ]),
  );
  let first: string | null = null;
  const deliveries = new FollowedDeliveries(ledger);
  let lookedAt = -Infinity;
  if (from !== null)
    deliveries.follow(await newestChanges(ledger, position, { list, limit: resumed, personal: false }));
  else {
    const changes = await newestChanges(ledger, heads, { list, limit: recent, personal });
    deliveries.follow(changes);
    first = toEvent({ changes: await views(ledger, changes, personal), skipped: 0 }, position);
  }
  return {
    next: async () => {
      if (first !== null) {
        const event = first;
        first = null;
        return event;
      }
      // Changes that arrive all the time do not keep the reader from seeing what became of earlier ones.
      if (performance.now() - lookedAt >= liveEveryMs) {
        const found = await deliveries.next();
        lookedAt = performance.now();
        if (found.length > 0) return `event: deliveries\ndata: ${JSON.stringify({ deliveries: found })}\n\n`;
      }
      const now = await feedHeads(ledger, choice);
      let skipped = 0;
      const ranges = [...now].flatMap(([pigeonholeNumber, head]) => {
        const seen = position.get(pigeonholeNumber) ?? 0;
        const after = head - seen > maxBehind ? head - maxAtOnce : seen;
        skipped += after - seen;
        return head > after ? [{ pigeonholeNumber, after, upTo: head }] : [];
      });
      if (ranges.length === 0) return null;
      const changes = await feedChanges(ledger, ranges, { list, limit: maxAtOnce, personal });
      deliveries.follow(changes);
      position = new Map(
        [...now].map(([pigeonholeNumber, head]) => [pigeonholeNumber, reached(changes, pigeonholeNumber, head)]),
      );
      if (changes.length === 0 && skipped === 0) return null;
      return toEvent({ changes: await views(ledger, changes, personal), skipped }, position);
    },
  };
}

/** Returns the sequence up to which a pigeonhole was sent: its head, unless one event cannot hold all changes. */
function reached(changes: readonly FeedChange[], pigeonholeNumber: number, head: number): number {
  const own = changes.filter((change) => change.pigeonholeNumber === pigeonholeNumber).map(({ sequence }) => sequence);
  // The highest, not the last: the changes are sorted by instant, and the clock may have been set back.
  return own.length < maxAtOnce ? head : Math.max(...own);
}

function follow(feed: Feed, sources: ApiSources, c: ApiContext, onEnd: () => void): ReadableStream {
  const ended = new AbortController();
  const end = (): void => {
    ended.abort();
    onEnd();
  };
  const { liveEveryMs = defaultEveryMs } = sources;
  let askedAt = performance.now();
  const next = async (): Promise<string> => {
    const heartbeatAt = performance.now() + heartbeatMs;
    while (!ended.signal.aborted) {
      if (performance.now() - askedAt > askAgainAfterMs) {
        await authenticate(sources, (name) => c.req.header(name));
        askedAt = performance.now();
      }
      const event = await feed.next();
      if (event !== null) return event;
      if (performance.now() >= heartbeatAt) return ': nothing new\n\n';
      await sleep(liveEveryMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
    return '';
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('retry: 2000\n\n')),
    pull: async (controller) => {
      try {
        const text = await next();
        if (!ended.signal.aborted) controller.enqueue(new TextEncoder().encode(text));
      } catch {
        // The store or the token failed: the client reconnects in two seconds and receives the error then.
        end();
        controller.close();
      }
    },
    cancel: end,
  });
}

function toEvent(data: LiveChanges, position: ReadonlyMap<number, number>): string {
  const id = positionText(position);
  return `event: changes\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

async function views(
  ledger: Ledger,
  changes: readonly FeedChange[],
  personal: boolean,
): Promise<LiveChanges['changes']> {
  const named = await withNames(ledger, changes, { personal });
  return named.map(({ pigeonholeNumber: _, data, ...change }) => ({
    ...withIsoInstants(change),
    ...(personal ? { data } : {}),
  }));
}

/** Size limit of a position, which clients send in a header. Node's default limit for all headers is 16 KiB. */
const longestText = 12_000;

const part = /^([0-9a-z]{1,7})-([0-9a-z]{1,11})$/;

/**
 * Writes a position as the ID of an event: the number and sequence of each pigeonhole. Sequences are counted separately
 * for each pigeonhole, so the position needs all of them.
 * @returns undefined if there are too many pigeonholes for one ID
 */
export function positionText(position: FeedPosition): string | undefined {
  const text = [...position]
    .map(([pigeonholeNumber, sequence]) => `${pigeonholeNumber.toString(36)}-${sequence.toString(36)}`)
    .join('.');
  return text.length > longestText ? undefined : text;
}

/** @returns undefined if the text is not a position */
export function positionFrom(text: string): FeedPosition | undefined {
  if (text.length > longestText) return undefined;
  if (text === '') return new Map();
  const parts = text.split('.').map((each) => part.exec(each));
  if (parts.includes(null)) return undefined;
  return new Map(parts.map((each) => [parseInt(each![1]!, 36), parseInt(each![2]!, 36)]));
}
