import { performance } from 'node:perf_hooks';
import { readingRules } from '../ledger/item-form.js';
import { type NewItems, prepareNewItems } from '../ledger/new-items.js';
import { type KnownPage, knownPages, type SweptPage, walksInCircle } from '../ledger/pages.js';
import { type PageResult, recordPage, recordSamePage } from './record-page.js';
import { distrustStream } from '../ledger/streams.js';
import type { OpenWalk, PageSummary } from '../ledger/walk.js';
import { defaultCount } from '../pigeonhole/list-request.js';
import type { ServiceListName } from '../base/list-names.js';
import type { Page } from '../pigeonhole/page.js';
import {
  breaksOrder,
  demoted,
  type KnownOrder,
  orderAfterSweep,
  summarizePage,
  advanceWalk,
  checkpointHolds,
  reachesKnown,
  repeatsPage,
} from './walk-progress.js';
import { foundNews, deletionLimitsOf, sinkIdsFor, type StreamReading, streamLogFields } from './stream-reading.js';
import { hasIds, type PageItems, toItems } from './to-items.js';
import { measureAge, showsNewItem } from './measure-age.js';
import { type WalkBudget, type PageRequest, PageRequests, circleError, createGate } from './page-requests.js';

/**
 * If a response took longer than this, the service is the bottleneck: the next request is sent before this page is
 * parsed.
 */
const slowAnswerMs = 10;
/**
 * After this many pages, permits are taken one request ahead, so that a request does not wait for its permit while the
 * thread parses a page. A walk that ends earlier would usually return such a permit unused.
 */
const longWalkPages = 4;
/** Page digests loaded per cycle. Pages beyond this number are compared item by item. */
const maxKnownPages = 2000;

/**
 * `distrusted`: the list's order, its filter or the stored checkpoint cannot be relied on, so only a sweep from the
 * first page can read it.
 */
type WalkEnding = 'finished' | 'more' | 'distrusted';

/** A received page, checked but not stored yet. */
interface Arrived {
  readonly page: Page;
  readonly summary: PageSummary;
  /** Null when the digest shows that the page is unchanged since the last sweep. */
  readonly seen: PageItems | null;
  /**
   * The rows to insert if every item is new, prepared before the previous page is stored. `storePage` then checks again
   * whether they are all new. Undefined if the ids show that an item may already be stored.
   */
  readonly prepared: NewItems | undefined;
  readonly digest: Buffer | null;
}

/**
 * Continues a walk page by page: request, check, hash, compare, write, next. Requests the next page as soon as the
 * current one arrives, and parses it while the store writes the current one. Each page commits together with the walk's
 * position and only under the stream's current lease, so a walk can be interrupted anywhere and continues after its
 * last stored page.
 * @throws {ApiError} when a request fails; pages read before it are stored
 * @throws {PermitRefusal} when the quota has no permit for a request
 */
export async function walkStream(reading: StreamReading, from: OpenWalk, budget: WalkBudget): Promise<WalkEnding> {
  const known = await pagesKnown(reading, from);
  const requests = new PageRequests(reading, from, budget);
  // A poll from the newest item ends where a page reaches a known item, so it cannot request the next page early.
  const eager = from.untilId === null;
  const read = async (request: PageRequest, ordinal: number, mayParse: Promise<void>): Promise<Read> => {
    mayParse.then(request.allowReading, request.allowReading);
    const waitsSince = performance.now();
    const cursor = await request.earlyCursor;
    const isSlow = performance.now() - waitsSince > slowAnswerMs;
    let early =
      cursor !== undefined && eager && requests.hasRoomFor(ordinal + 1) ? requests.request(cursor) : undefined;
    const page = await request.page;
    if (early !== undefined && early.cursor !== page.nextCursor) early = requests.discard(early);
    const continues = page.hasMore && (early !== undefined || requests.hasRoomFor(ordinal + 1));
    const ahead = eager && continues ? (early ?? requests.request(page.nextCursor)) : undefined;
    // Hashing and converting the items of this page blocks the thread, which would delay the next request.
    if (isSlow) await ahead?.sent;
    if (ahead !== undefined && (isSlow || ordinal - from.pages >= longWalkPages)) requests.takePermitAhead(ordinal + 2);
    return { arrived: checkDigest(reading, from.kind, page, known.get(ordinal)), continues, ahead };
  };
  let walk = from;
  reading.cursor = from.cursor;
  let next = read(requests.request(walk.cursor), walk.pages, Promise.resolve());
  try {
    for (;;) {
      const { arrived, continues, ahead } = await next;
      reading.deps.onPage();
      const after = await checkProgress(reading, walk, arrived);
      if (after === 'distrusted') return after;
      reading.cycle.pages += 1;
      const ends = !arrived.page.hasMore || (walk.kind === 'poll' && reachesKnown(walk.untilId, arrived.summary));
      // The next page is parsed while the store writes this one; parsing it earlier would delay the store.
      const writing = createGate();
      if (!ends && continues) {
        next = read(ahead ?? requests.request(after.cursor), after.pages, writing.opened);
        // The next iteration awaits `next`. Until then, Node.js must not report a rejection as unhandled.
        next.catch(() => undefined);
      }
      const isDetection = budget.detects && (walk.kind === 'poll' || showsNewItem(reading, arrived.summary));
      // `stretch` (how much longer the intervals are while the quota is short) is computed again, because a response
      // may have changed the known quota since this cycle started.
      if (ends) reading.stretch = await reading.deps.gate.stretchOf(reading.deps, reading.place.workspace);
      const result = await storePage(reading, arrived, after, {
        planNextReads: ends ? budget.planNextReads : undefined,
        onWriting: writing.open,
      });
      writing.open();
      if (isDetection && result.created > 0) measureAge(reading, arrived.summary);
      await reportPage(reading, arrived.page, arrived.seen, result);
      // The poll wrote rows that the last sweep has not seen. A sweep in the same cycle must search for missing
      // items, even if its pages equal those of the last sweep.
      if (walk.kind === 'poll' && foundNews(result)) reading.lease = { ...reading.lease, differs: true };
      walk = after;
      reading.cursor = walk.cursor;
      if (ends) return 'finished';
      if (!continues) return 'more';
    }
  } finally {
    await requests.close();
  }
}

interface Read {
  readonly arrived: Arrived;
  /** The next page is read in this cycle. */
  readonly continues: boolean;
  /** The request for the next page, if it has been sent already. */
  readonly ahead: PageRequest | undefined;
}

async function pagesKnown({ deps, lease, place }: StreamReading, walk: OpenWalk): Promise<Map<number, KnownPage>> {
  if (walk.kind === 'poll') return new Map();
  const { pages, cursor } = walk;
  const isInCircle =
    cursor !== null &&
    (await walksInCircle(deps.ledger, lease, { pages, cursor, hasIds: hasIds(lease.list as ServiceListName) }));
  if (isInCircle) throw circleError({ place, lease });
  return await knownPages(deps.ledger, lease, walk.pages, maxKnownPages);
}

function checkDigest(
  reading: StreamReading,
  kind: OpenWalk['kind'],
  page: Page,
  known: KnownPage | undefined,
): Arrived {
  if (kind === 'poll') return checkItems(reading, page, null);
  // The cursor is left out of the digest, because it is opaque and may differ on every request.
  const digestParts = [defaultCount, page.perPage, rulesOf(reading), page.digest];
  const digest = reading.deps.ledger.hash.content(digestParts.join('\n'));
  if (known?.digest.equals(digest) === true) {
    return { page, summary: known.summary, seen: null, prepared: undefined, digest };
  }
  return checkItems(reading, page, digest);
}

function checkItems(reading: StreamReading, page: Page, digest: Buffer | null): Arrived {
  const { deps, place, lease } = reading;
  const list = lease.list as ServiceListName;
  const drop = place.plan.drop[list] ?? [];
  const seen = toItems(page.items, { list, sessionId: lease.sessionId, drop, hash: deps.ledger.hash });
  const placed = seen.items.map(({ key, at }) => ({ key, id: hasIds(list) ? Number(key) : undefined, at }));
  const summary = summarizePage(placed, seen);
  const prepared = compareIds(reading, summary).allNew
    ? prepareNewItems(deps.ledger, { ...place, list }, seen.items, rulesOf(reading))
    : undefined;
  return { page, summary, seen, prepared, digest };
}

function rulesOf({ place, lease }: StreamReading): string {
  return readingRules(place.plan.drop[lease.list as ServiceListName] ?? []);
}

/**
 * Returns the walk's position after the page. Returns `distrusted` if the walk is a poll and the page does not match
 * the checkpoint, repeats the page before, breaks the expected order, or shows that the service ignored the filter. A
 * sweep that breaks the order discards the checkpoint and continues.
 */
async function checkProgress(
  reading: StreamReading,
  walk: OpenWalk,
  { page, summary, seen }: Arrived,
): Promise<OpenWalk | 'distrusted'> {
  const { lease } = reading;
  const keys = seen?.items.map(({ key }) => key) ?? [];
  const resumed = walk.kind === 'poll' && walk.pages === 0 && lease.order === 'ascending';
  if (resumed && !checkpointHolds(lease, { perPage: page.perPage, keys })) return await distrust(reading, lease);
  const isRepeated =
    walk.kind === 'poll' && repeatsPage(walk, summary, { hasIds: hasIds(lease.list as ServiceListName) });
  if (isRepeated && page.hasMore) return await distrust(reading, lease);
  const progress = advanceWalk(walk, { ...page, summary });
  // Rows of other sessions mean that the service ignored the filter, so the order of the list can no longer be trusted.
  const ignoresFilter = walk.kind === 'poll' && summary.foreign > 0;
  if (ignoresFilter || breaksOrder(lease.order, progress.direction)) {
    const ending = await distrust(reading, demoted(lease));
    if (walk.kind === 'poll') return ending;
  }
  return {
    ...walk,
    ...progress,
    firstAt: walk.firstAt ?? new Date(page.requestedAt),
    // A page of the first sweep does not count as different, because there is no earlier sweep to compare it with.
    differs: walk.differs || (seen !== null && walk.number !== 1),
  };
}

/** Discards the stream's checkpoint and open poll. Polls resume only after a sweep has finished. */
export async function distrust(reading: StreamReading, order: KnownOrder): Promise<'distrusted'> {
  await distrustStream(reading.deps.ledger, reading.lease, order);
  reading.lease = { ...reading.lease, ...order, checkpoint: null, checkpointKey: null, headId: null, poll: null };
  return 'distrusted';
}

interface StoreOptions {
  /** Undefined if the walk continues after this page. */
  readonly planNextReads: WalkBudget['planNextReads'] | undefined;
  /** Called when the store begins to write (`recordPage`). */
  readonly onWriting: () => void;
}

async function storePage(
  reading: StreamReading,
  arrived: Arrived,
  walk: OpenWalk,
  { planNextReads, onWriting }: StoreOptions,
): Promise<PageResult> {
  const { deps, lease } = reading;
  const { page } = arrived;
  const sweptOrder = walk.foreign > 0 ? demoted(lease) : orderAfterSweep(lease, walk.direction);
  const order = walk.kind === 'sweep' ? sweptOrder : lease;
  const basics = {
    walk,
    end:
      planNextReads === undefined
        ? null
        : {
            order,
            next: planNextReads?.({ order: order.order, checkpoint: walk.checkpoint, pages: walk.pages }) ?? null,
            foundNews: foundNews(reading.cycle),
            limits: deletionLimitsOf(reading),
          },
    perPage: page.perPage,
    requestedAt: new Date(page.requestedAt),
    sinkIds: sinkIdsFor(reading, lease.list),
  };
  const ordinal = walk.pages - 1;
  const { digest } = arrived;
  if (arrived.seen === null && digest !== null) {
    onWriting();
    const result = await recordSamePage(deps.ledger, lease, {
      ...basics,
      swept: { ordinal, cursor: page.cursor, digest },
    });
    if (result !== undefined) return result;
  }
  const { seen, summary, prepared } = arrived.seen === null ? checkItems(reading, page, digest) : arrived;
  const items = seen!.items;
  const sweptPage: SweptPage | null =
    digest === null ? null : { ordinal, cursor: page.cursor, digest, keys: items.map(({ key }) => key), summary };
  const { highestId, allNew } = compareIds(reading, summary);
  const result = await recordPage(deps.ledger, lease, {
    ...basics,
    items,
    requestId: page.requestId,
    readAs: `${walk.kind}, page ${walk.pages}`,
    rules: rulesOf(reading),
    highestId,
    allNew,
    prepared,
    swept: sweptPage,
    onWriting,
  });
  if (highestId !== null) reading.highestId = Math.max(reading.highestId ?? highestId, highestId);
  return result;
}

/**
 * Compares a page's ids with the highest id that the stream has stored. In a list that is read per session, an id above
 * the highest does not prove that the item is new, because items move between sessions.
 */
function compareIds(
  { lease, highestId }: StreamReading,
  { low, high }: PageSummary,
): { highestId: number | null; allNew: boolean } {
  if (!hasIds(lease.list as ServiceListName)) return { highestId: null, allNew: false };
  return { highestId: high, allNew: lease.sessionId === 0 && low !== null && (highestId === null || low > highestId) };
}

/** Reports a stored page: adds it to the cycle's counts, wakes the sinks that have changes to deliver, and logs it. */
export async function reportPage(
  reading: StreamReading,
  page: Page,
  seen: Pick<PageItems, 'unidentified' | 'foreign'> | null,
  result: PageResult,
): Promise<void> {
  const { deps, cycle } = reading;
  const { unidentified, foreign } = seen ?? { unidentified: 0, foreign: 0 };
  cycle.created += result.created;
  cycle.updated += result.updated;
  cycle.deleted += result.deleted;
  cycle.reviewsLeft ||= result.reviewsLeft;
  if (result.woken.length > 0) await deps.orchestration.wakeSinks(result.woken);
  if (foundNews(result) || unidentified + foreign + page.irregular.length > 0) {
    deps.log.info(
      {
        ...streamLogFields(reading),
        requestId: page.requestId,
        items: page.items.length,
        created: result.created,
        updated: result.updated,
        deleted: result.deleted,
        unidentified,
        foreign,
        irregular: page.irregular.length,
      },
      'page stored',
    );
  }
}
