import { performance } from 'node:perf_hooks';
import { readingRules } from '../ledger/reading-rules.js';
import { type NewItems, prepareNewItems } from '../ledger/new-items.js';
import { hasAskedWith, type KnownPage, knownPages, type SweptPage } from '../ledger/pages.js';
import { type PageResult, recordPage, recordSamePage } from './record-page.js';
import { distrustStream } from '../ledger/streams.js';
import type { OpenWalk, PageSummary } from '../ledger/walk.js';
import { defaultCount } from '../pigeonhole/list-request.js';
import type { ListName } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import { breaksOrder, demoted, orderAfterSweep } from './stream-order.js';
import { foundNews, limitsOf, sinkIdsFor, type StreamReading, facts } from './stream-reading.js';
import { summarizePage, advanceWalk, checkpointHolds, reachesKnown } from './walk-progress.js';
import { hasIds, type PageItems, toItems } from './to-items.js';
import { WalkBudget, Asked, Requests, circle, createGate } from './page-requests.js';

/** Where a page was waited for so long, the service sets the pace: the next one is asked for before this is looked at. */
const slowAnswerMs = 10;
/**
 * After so many pages more are to be expected: permits are taken ahead, so that a request that could be made while a
 * page is looked at does not wait for its permit until that is done. A short walk would mostly give its last one back.
 */
const longWalk = 4;
/** Digests looked up at a time; a walk of more pages compares the rest. */
const mostKnownPages = 2000;

/** `distrusted`: what the walk rested on does not hold; only a sweep from the first page is left. */
type WalkEnding = 'finished' | 'more' | 'distrusted';

/** A page as it arrived, before the ledger knows of it. */
interface Arrived {
  readonly page: Page;
  readonly summary: PageSummary;
  /** Null: the page is the one that the last sweep saw, and its items are known. */
  readonly seen: PageItems | null;
  /** Its items as they are to be written, where they may all be new; whether they are, the page before can tell. */
  readonly prepared: NewItems | undefined;
  readonly digest: Buffer | null;
}

/**
 * Reads a walk on, page by page. The page after is asked for as soon as this one has come, and is looked at while this
 * one is written. Each page commits with the place where the walk goes on, under the lease alone.
 * @throws {ApiError} what the service refused; what was read before is stored
 * @throws {PermitRefusal} when the quota has no room for a request
 */
export async function walkStream(reading: StreamReading, from: OpenWalk, budget: WalkBudget): Promise<WalkEnding> {
  const known = await pagesKnown(reading, from);
  const requests = new Requests(reading, from, budget);
  // Where a read from the head ends, only what a page shows can tell: the next is asked for after that.
  const eager = from.untilId === null;
  const read = async (asked: Asked, ordinal: number, hasTime: Promise<void>): Promise<Read> => {
    hasTime.then(asked.read, asked.read);
    const waitsSince = performance.now();
    const cursor = await asked.glimpsed;
    const isSlow = performance.now() - waitsSince > slowAnswerMs;
    let early = cursor !== undefined && eager && requests.mayAsk(ordinal + 1) ? requests.ask(cursor) : undefined;
    const page = await asked.page;
    if (early !== undefined && early.cursor !== page.nextCursor) early = requests.forget(early);
    const goesOn = page.hasMore && (early !== undefined || requests.mayAsk(ordinal + 1));
    const ahead = eager && goesOn ? (early ?? requests.ask(page.nextCursor)) : undefined;
    // Looking at a page keeps the thread busy, and would hold the next request's permit up.
    if (isSlow) await ahead?.isUnderWay;
    if (ahead !== undefined && (isSlow || ordinal - from.pages >= longWalk)) requests.takePermitAhead(ordinal + 2);
    return { arrived: arrive(reading, from.kind, page, known.get(ordinal)), goesOn, ahead };
  };
  let walk = from;
  reading.cursor = from.cursor;
  let next = read(requests.ask(walk.cursor), walk.pages, Promise.resolve());
  try {
    for (;;) {
      const { arrived, goesOn, ahead } = await next;
      reading.to.onPage();
      const after = await follow(reading, walk, arrived);
      if (after === 'distrusted') return after;
      reading.turn.pages += 1;
      const ends = !arrived.page.hasMore || (walk.kind === 'poll' && reachesKnown(walk.untilId, arrived.summary));
      // Looked at while the store writes this page: before, the store would wait for us.
      const writing = createGate();
      if (!ends && goesOn) {
        next = read(ahead ?? requests.ask(after.cursor), after.pages, writing.opened);
        next.catch(() => undefined); // awaited above; until then a refusal must not count as unhandled
      }
      const result = await store(reading, arrived, after, ends ? budget.next : undefined, writing.open);
      writing.open();
      if (walk.kind === 'poll' && changesOf(result) > 0) noteAge(reading, arrived, result.created);
      await noteAnswer(reading, arrived.page, arrived.seen, result);
      // A sweep that begins behind this poll, in this turn, has to compare keys at its end.
      if (walk.kind === 'poll' && changesOf(result) > 0) reading.lease = { ...reading.lease, differs: true };
      walk = after;
      reading.cursor = walk.cursor;
      if (ends) return 'finished';
      if (!goesOn) return 'more';
    }
  } finally {
    await requests.stop();
  }
}

/** Only where the page has brought new items: the newest of them is among them, unless it was only moved. */
function noteAge({ to, lease }: StreamReading, { summary }: Arrived, created: number): void {
  if (created > 0 && summary.newestAt !== null) to.meters.found(lease.list, to.ledger.clock.nowMs() - summary.newestAt);
}

function changesOf({ created, updated, deleted }: PageResult): number {
  return created + updated + deleted;
}

interface Read {
  readonly arrived: Arrived;
  /** The page after is to be read in this turn. */
  readonly goesOn: boolean;
  /** It is on its way already. */
  readonly ahead: Asked | undefined;
}

async function pagesKnown({ to, lease, place }: StreamReading, walk: OpenWalk): Promise<Map<number, KnownPage>> {
  if (walk.kind === 'poll') return new Map();
  if (walk.cursor !== null && (await hasAskedWith(to.ledger, lease, walk))) throw circle({ place, lease });
  return await knownPages(to.ledger, lease, walk.pages, mostKnownPages);
}

function arrive(reading: StreamReading, kind: OpenWalk['kind'], page: Page, known: KnownPage | undefined): Arrived {
  if (kind === 'poll') return compare(reading, page, null);
  // Without the cursor: it is opaque, and may be another one each time.
  const shown = [defaultCount, page.perPage, rulesOf(reading), page.digest];
  const digest = reading.to.ledger.hash.content(shown.join('\n'));
  if (known?.digest.equals(digest) === true) {
    return { page, summary: known.summary, seen: null, prepared: undefined, digest };
  }
  return compare(reading, page, digest);
}

function compare(reading: StreamReading, page: Page, digest: Buffer | null): Arrived {
  const { to, place, lease } = reading;
  const list = lease.list as ListName;
  const drop = place.plan.drop[list] ?? [];
  const seen = toItems(page.items, { list, sessionId: lease.sessionId, drop, hash: to.ledger.hash });
  const placed = seen.items.map(({ key, at }) => ({ key, id: hasIds(list) ? Number(key) : undefined, at }));
  const summary = summarizePage(placed, seen);
  const prepared = placeIds(reading, summary).isNew
    ? prepareNewItems(to.ledger, { ...place, list }, seen.items, rulesOf(reading))
    : undefined;
  return { page, summary, seen, prepared, digest };
}

function rulesOf({ place, lease }: StreamReading): string {
  return readingRules(place.plan.drop[lease.list as ListName] ?? []);
}

/** Where the walk stands behind the page; or that it rested on what is not so. */
async function follow(
  reading: StreamReading,
  walk: OpenWalk,
  { page, summary, seen }: Arrived,
): Promise<OpenWalk | 'distrusted'> {
  const { lease } = reading;
  const keys = seen?.items.map(({ key }) => key) ?? [];
  const resumed = walk.kind === 'poll' && walk.pages === 0 && lease.order === 'ascending';
  if (resumed && !checkpointHolds(lease, { perPage: page.perPage, keys })) return await distrust(reading, lease);
  const progress = advanceWalk(walk, { ...page, summary });
  // Nor does a page say where anything stands in a list that it does not show alone.
  const ignoresFilter = walk.kind === 'poll' && summary.foreign > 0;
  if (ignoresFilter || breaksOrder(lease.order, progress.direction)) {
    const ending = await distrust(reading, demoted(lease));
    if (walk.kind === 'poll') return ending;
  }
  return {
    ...walk,
    ...progress,
    firstAt: walk.firstAt ?? new Date(page.requestedAt),
    differs: walk.differs || seen !== null,
  };
}

/** Nothing is resumed any more before a sweep has ended. */
export async function distrust(
  reading: StreamReading,
  order: Parameters<typeof distrustStream>[2],
): Promise<'distrusted'> {
  await distrustStream(reading.to.ledger, reading.lease, order);
  const { order: itemOrder, cleanWalks, cleanDirection, promoteAt } = order;
  reading.lease = {
    ...reading.lease,
    order: itemOrder,
    cleanWalks,
    cleanDirection,
    promoteAt,
    checkpoint: null,
    checkpointKey: null,
    headId: null,
    poll: null,
  };
  return 'distrusted';
}

/** @param next undefined: the walk goes on */
async function store(
  reading: StreamReading,
  arrived: Arrived,
  walk: OpenWalk,
  next: WalkBudget['next'] | undefined,
  onWriting: () => void,
): Promise<PageResult> {
  const { to, lease } = reading;
  const { page } = arrived;
  const known = {
    order: lease.order,
    cleanWalks: lease.cleanWalks,
    cleanDirection: lease.cleanDirection,
    promoteAt: lease.promoteAt,
  };
  const swept = walk.foreign > 0 ? demoted(known) : orderAfterSweep(known, walk.direction);
  const order = walk.kind === 'sweep' ? swept : known;
  const basics = {
    walk,
    end:
      next === undefined
        ? null
        : {
            order,
            next: next?.({ order: order.order, checkpoint: walk.checkpoint, pages: walk.pages }) ?? null,
            foundNews: foundNews(reading.turn),
            limits: limitsOf(reading),
          },
    perPage: page.perPage,
    sinkIds: sinkIdsFor(reading, lease.list),
  };
  const ordinal = walk.pages - 1;
  const { digest } = arrived;
  if (arrived.seen === null && digest !== null) {
    onWriting();
    const result = await recordSamePage(to.ledger, lease, {
      ...basics,
      swept: { ordinal, cursor: page.cursor, digest },
    });
    if (result !== undefined) return result;
  }
  const { seen, summary, prepared } = arrived.seen === null ? compare(reading, page, digest) : arrived;
  const items = seen!.items;
  const remembered: SweptPage | null =
    digest === null ? null : { ordinal, cursor: page.cursor, digest, keys: items.map(({ key }) => key), summary };
  const { highestId, isNew } = placeIds(reading, summary);
  const result = await recordPage(to.ledger, lease, {
    ...basics,
    items,
    requestedAt: new Date(page.requestedAt),
    requestId: page.requestId,
    readAs: `${walk.kind}, page ${walk.pages}`,
    rules: rulesOf(reading),
    highestId,
    isNew,
    prepared,
    swept: remembered,
    onWriting,
  });
  if (highestId !== null) reading.highestId = Math.max(reading.highestId ?? highestId, highestId);
  return result;
}

/**
 * How a page's ids stand to what the stream has stored. A list that is read per session may have got an item from
 * another stream (it moved), so there nothing is new for certain.
 */
function placeIds(
  { lease, highestId }: StreamReading,
  { low, high }: PageSummary,
): { highestId: number | null; isNew: boolean } {
  if (!hasIds(lease.list as ListName)) return { highestId: null, isNew: false };
  return { highestId: high, isNew: lease.sessionId === 0 && low !== null && (highestId === null || low > highestId) };
}

/** What is to be told of a page once it is stored: to the turn, to the sinks that have something to do, to the log. */
export async function noteAnswer(
  reading: StreamReading,
  page: Page,
  seen: Pick<PageItems, 'unidentified' | 'foreign'> | null,
  result: PageResult,
): Promise<void> {
  const { to, turn } = reading;
  const { unidentified, foreign } = seen ?? { unidentified: 0, foreign: 0 };
  turn.created += result.created;
  turn.updated += result.updated;
  turn.deleted += result.deleted;
  turn.reviewsLeft ||= result.reviewsLeft;
  if (result.woken.length > 0) await to.orchestration.wakeSinks(result.woken);
  if (result.created + result.updated + result.deleted + unidentified + foreign + page.irregular.length > 0) {
    to.log.info(
      {
        ...facts(reading),
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
