import { setImmediate as nextTurn } from 'node:timers/promises';
import { readingRules } from '../ledger/item-form.js';
import { type KnownPage, walksInCircle } from '../ledger/pages.js';
import type { OpenWalk, PageSummary } from '../ledger/walk.js';
import { defaultCount } from '../pigeonhole/lists.js';
import type { ServiceListName } from '../base/lists.js';
import type { Page } from '../pigeonhole/page.js';
import { PageRequests, type WalkBudget } from './page-requests.js';
import { endDoubt } from '../ledger/streams.js';
import { ownSessions, settleDoubt } from './doubt.js';
import { endsAsBefore } from './remembered-stream.js';
import { type PageRecord, type PageResult, recordPage } from './record-page.js';
import {
  circleError,
  deletionLimitsOf,
  discardSuspect,
  distrust,
  foundNews,
  leaveQuiet,
  measureAge,
  reportPage,
  settingsReader,
  showsNewItem,
  sinksFor,
  type StreamReading,
} from './stream-reading.js';
import { hasIds, type PageItems, toItems } from './to-items.js';
import {
  advanceWalk,
  breaksOrder,
  checkpointHolds,
  demoted,
  orderAfterSweep,
  reachesKnown,
  repeatsPage,
  summarizePage,
} from './walk-progress.js';

/**
 * `distrusted`: the list's order, its filter or the stored checkpoint cannot be relied on, so only a sweep from the
 * first page can read it. `held`: the next page is doubtful (`doubt.ts`); the stream is due again.
 */
type WalkEnding = 'finished' | 'more' | 'distrusted' | 'held';

/** A received page, checked but not stored yet. */
interface Arrived {
  readonly page: Page;
  readonly summary: PageSummary;
  /** Null when the digest shows that the page is unchanged since the last sweep, or since the last poll. */
  readonly seen: PageItems | null;
  readonly digest: Buffer;
}

/** A page that was requested. */
interface Requested {
  readonly page: Promise<Page>;
  /** The page with its items hashed, which happens while the page before it is stored. */
  readonly arrived: Promise<Arrived>;
}

/**
 * Continues a walk page by page: request, hash, check, compare, write, next. The next page is requested and hashed
 * while the current one is stored. Each page commits together with the walk's position and only under the stream's
 * current lease, so a walk can be interrupted anywhere and continues after its last stored page.
 * @throws {ApiError} when a request fails; pages read before it are stored
 * @throws {PermitRefusal} when the quota has no permit for a request
 */
export async function walkStream(reading: StreamReading, from: OpenWalk, budget: WalkBudget): Promise<WalkEnding> {
  const known = await pagesKnown(reading, from);
  const requests = new PageRequests(reading, from, budget);
  let walk = from;
  reading.cursor = from.cursor;
  reading.walk = { kind: from.kind, advanced: false };
  const read = (cursor: string | null, ordinal: number): Requested => {
    const page = requests.page(cursor);
    // Lets the request for the next page leave before the items of this one are hashed, which blocks the thread. undici
    // reuses a connection only in the next turn of the event loop, so hashing starts in the one after it.
    const arrived = page.then(async (received) => {
      await nextTurn();
      await nextTurn();
      return checkPage(reading, from.kind, received, known.at(ordinal, cursor));
    });
    arrived.catch(() => undefined); // awaited later; until then, Node.js must not report a rejection as unhandled
    return { page, arrived };
  };
  let next = read(walk.cursor, walk.pages);
  try {
    for (;;) {
      const page = await next.page;
      const continues = page.hasMore && requests.hasRoomFor(walk.pages + 1);
      // A poll from the newest item ends where a page reaches a known one, so its next page may not be needed.
      const ahead = continues && walk.untilId === null ? read(page.nextCursor, walk.pages + 1) : undefined;
      const checked = await next.arrived;
      if (checked.seen !== null && reading.isQuiet) await leaveQuiet(reading);
      const arrived = await withoutStrangers(reading, checked);
      reading.deps.onPage();
      await discardSuspect(reading);
      if (arrived === 'held') return arrived;
      const after = await checkProgress(reading, walk, arrived);
      if (after === 'distrusted') return after;
      reading.cycle.pages += 1;
      const { summary } = arrived;
      const ends = !page.hasMore || (walk.kind === 'poll' && reachesKnown(walk.untilId, summary));
      if (!ends && continues) next = ahead ?? read(after.cursor, after.pages);
      const isDetection = budget.detects && (walk.kind === 'poll' || showsNewItem(reading, summary));
      // `stretch` (how much longer the intervals are while the quota is short) is computed again, because a response
      // may have changed the known quota since this cycle started.
      if (ends) reading.stretch = await reading.deps.gate.stretchOf(reading.deps, reading.place.workspace);
      const planNextReads = ends ? budget.planNextReads : undefined;
      if (!passQuietly(reading, arrived, after, planNextReads)) {
        if (reading.isQuiet) await leaveQuiet(reading);
        const result = await storePage(reading, arrived, after, planNextReads);
        if (result === 'doubtful') return 'held';
        await trustAgain(reading, summary);
        if (isDetection && result.created > 0) measureAge(reading, summary);
        await reportPage(reading, page, arrived.seen, result);
        if (walk.kind === 'poll' && !result.isOutdated) reading.stream.rememberPoll(page.cursor, arrived);
        // The poll wrote rows that the last sweep has not seen. If one is deleted before a sweep in the same cycle reads
        // its page, that page equals the one of the last sweep: the sweep must search for missing items nevertheless.
        if (walk.kind === 'poll' && foundNews(result)) reading.lease = { ...reading.lease, differs: true };
      }
      walk = after;
      reading.cursor = walk.cursor;
      reading.walk = { kind: walk.kind, advanced: true };
      if (ends) return 'finished';
      if (!continues) return 'more';
    }
  } finally {
    await requests.close();
  }
}

async function pagesKnown(
  reading: StreamReading,
  walk: OpenWalk,
): Promise<{ at(ordinal: number, cursor: string | null): KnownPage | undefined }> {
  const { deps, lease, stream } = reading;
  const known = await stream.pagesFor(deps.ledger, walk);
  const { kind, pages, cursor } = walk;
  // A walk that has shown only pages of the last sweep, and is still among them, is in no circle.
  if (kind === 'poll' || cursor === null || (!walk.differs && known.at(pages, cursor) !== undefined)) return known;
  const list = { pages, cursor, hasIds: hasIds(listOf(reading)) };
  if (await walksInCircle(deps.ledger, lease, list)) throw circleError(reading);
  return known;
}

/**
 * Passes a page of a quiet read: advances the walk, or ends it, in memory. If the walk ends differently from the one
 * before, the page takes the ordinary way.
 * @param planNextReads undefined if the walk continues after this page
 * @returns false if the page has to be stored
 */
function passQuietly(
  reading: StreamReading,
  { seen }: Arrived,
  walk: OpenWalk,
  planNextReads: WalkBudget['planNextReads'] | undefined,
): boolean {
  const { deps, lease, stream } = reading;
  if (!reading.isQuiet || seen !== null || walk.differs || walk.setAside + walk.foreign > 0) return false;
  if (planNextReads === undefined) {
    reading.lease = stream.advance(lease, walk);
    return true;
  }
  if (!endsAsBefore(lease, walk)) return false;
  const next = planNextReads?.({ order: lease.order, checkpoint: walk.checkpoint, pages: walk.pages }) ?? null;
  const now = deps.ledger.clock.now();
  if (walk.kind === 'poll') reading.lease = stream.endPoll(lease, now);
  else reading.lease = stream.endSweep(lease, walk, { now, sweepInMs: next?.afterNothing.sweepInMs ?? 0 });
  if (next !== null) reading.lease = stream.endRead(reading.lease, next, now);
  return true;
}

/** Recognizes a page that is unchanged since the last sweep, and converts the items of any other page. */
function checkPage(reading: StreamReading, kind: OpenWalk['kind'], page: Page, known: KnownPage | undefined): Arrived {
  if (kind === 'poll' && !reading.isQuiet) known = undefined; // nothing that the ledger stores shows what it was like
  // The cursor is left out of the digest, because it is opaque and may differ on every request.
  const digestParts = [defaultCount, page.perPage, rulesOf(reading), page.digest];
  if (kind === 'poll') digestParts.push('poll', reading.lease.checkpointKey ?? '');
  const digest = reading.deps.ledger.hash.content(digestParts.join('\n'));
  if (known?.digest.equals(digest) !== true) return checkItems(reading, page, digest);
  // Its rows of unknown sessions may belong to sessions that the pigeonhole has got since.
  if (known.summary.foreign > 0 && reading.lease.sessionId === 0) return checkItems(reading, page, digest);
  return { page, summary: known.summary, seen: null, digest };
}

function checkItems(reading: StreamReading, page: Page, digest: Buffer): Arrived & { readonly seen: PageItems } {
  const { deps, place, lease } = reading;
  const list = listOf(reading);
  const drop = place.plan.drop[list] ?? [];
  const { sessions: ownSessions } = reading;
  const read = toItems(page.items, { list, sessionId: lease.sessionId, ownSessions, drop, hash: deps.ledger.hash });
  // An element that is no object was left out of `page.items`.
  const noObjects = page.irregular.filter(({ index }) => index === null).length;
  const seen = { ...read, unidentified: read.unidentified + noObjects };
  const placed = seen.items.map(({ key, at }) => ({ key, id: hasIds(list) ? Number(key) : undefined, at }));
  return { page, summary: summarizePage(placed, seen), seen, digest };
}

function listOf({ lease }: StreamReading): ServiceListName {
  return lease.list as ServiceListName;
}

function rulesOf(reading: StreamReading): string {
  return readingRules(reading.place.plan.drop[listOf(reading)] ?? []);
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
  const resumed = walk.kind === 'poll' && walk.pages === 0 && lease.order === 'ascending';
  const keys = seen?.items.map(({ key }) => key);
  // A page that an earlier poll showed was checked by that poll, with the same checkpoint.
  if (resumed && keys !== undefined && !checkpointHolds(lease, { perPage: page.perPage, keys }))
    return await distrust(reading, lease);
  const isRepeated = walk.kind === 'poll' && repeatsPage(walk, summary, { hasIds: hasIds(listOf(reading)) });
  if (isRepeated && page.hasMore) return await distrust(reading, lease);
  const { cursor, nextCursor, hasMore, requestedAt } = page; // not its items, which a known page has not parsed
  const progress = advanceWalk(walk, { cursor, nextCursor, hasMore, requestedAt, summary });
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

/**
 * Looks up the sessions of rows that belong to none of the known ones, and adds those of the pigeonhole to them. If
 * others are left, the sessions are read before the page is stored. If they do not contain them either, the rows belong
 * to another pigeonhole, and stay out of the page's items.
 */
async function withoutStrangers(reading: StreamReading, arrived: Arrived): Promise<Arrived | 'held'> {
  const { deps, lease, sessions } = reading;
  const strangers = arrived.seen?.strangers ?? [];
  if (strangers.length === 0) return arrived;
  for (const id of await ownSessions(deps.ledger.db, lease.pigeonholeNumber, strangers)) sessions?.add(id);
  const checked = checkItems(reading, arrived.page, arrived.digest);
  const keys = checked.seen.strangers.map(String);
  if (keys.length === 0) return checked;
  const requestedAt = new Date(arrived.page.requestedAt);
  const doubt = { keys, requestedAt, reason: 'unknown-sessions', fitsSessions: false } as const;
  return (await settleDoubt(deps.ledger.db, lease, doubt)) ? checked : 'held';
}

/**
 * Returns the doubt that arises if all items of a page are new. There is none if the walk reaches further than the last
 * sweep, because new items are expected there, and in a poll of an ascending list.
 * @param walk the walk's position after the page
 */
function doubtIfNew(
  { lease, sessions, highestId, acceptsNewItems }: StreamReading,
  walk: OpenWalk,
  items: PageItems['items'],
  hasMore: boolean,
): PageRecord['doubtIfNew'] {
  const reached = walk.kind === 'sweep' ? (lease.pageCount ?? 0) : lease.order === 'descending' ? 1 : 0;
  if (lease.sweeps === 0 || walk.pages > reached || acceptsNewItems) return null;
  const isOfSessions = lease.list !== 'sessions' && sessions !== null;
  const fitsSessions = isOfSessions && items.every(({ sessionId }) => sessionId !== null);
  // In a list that shows the newest items first, known ones may follow on the next pages.
  const mayBeNewest = hasMore && highestId !== null && items.every(({ key }) => Number(key) > highestId);
  if (mayBeNewest) return { reason: 'new-items', fitsSessions };
  if ((lease.itemCount ?? 0) > 0) return { reason: 'replaced', fitsSessions };
  return isOfSessions && !fitsSessions ? { reason: 'new-items', fitsSessions } : null;
}

/** Ends the doubt about earlier answers after a page was stored. Rows of other pigeonholes keep it up. */
async function trustAgain(reading: StreamReading, { foreign }: PageSummary): Promise<void> {
  const { deps, lease } = reading;
  if (lease.doubtSince === null || foreign > 0) return;
  await endDoubt(deps.ledger.db, lease);
  reading.acceptsNewItems = true;
  reading.lease = { ...lease, doubtSince: null, doubtKeys: null };
}

/**
 * Stores a page with the walk's position after it.
 * @param planNextReads undefined if the walk continues after this page
 */
async function storePage(
  reading: StreamReading,
  arrived: Arrived,
  walk: OpenWalk,
  planNextReads: WalkBudget['planNextReads'] | undefined,
): Promise<PageResult | 'doubtful'> {
  const { deps, lease } = reading;
  const { page, digest } = arrived;
  const sweptOrder = walk.foreign > 0 ? demoted(lease) : orderAfterSweep(lease, walk.direction);
  const order = walk.kind === 'sweep' ? sweptOrder : lease;
  const end =
    planNextReads === undefined
      ? null
      : {
          order,
          next: planNextReads?.({ order: order.order, checkpoint: walk.checkpoint, pages: walk.pages }) ?? null,
          foundNews: foundNews(reading.cycle),
          limits: deletionLimitsOf(reading),
        };
  const record = async ({ seen, summary }: Arrived): Promise<PageResult | 'doubtful'> => {
    const items = seen?.items ?? null;
    const highestId = items !== null && hasIds(listOf(reading)) ? summary.high : null;
    const result = await recordPage(deps.ledger, lease, {
      walk,
      end,
      perPage: page.perPage,
      requestedAt: new Date(page.requestedAt),
      sinks: sinksFor(reading, lease.list),
      items,
      requestId: page.requestId,
      readAs: `${walk.kind}, page ${walk.pages}`,
      rules: rulesOf(reading),
      highestId,
      readSettings: settingsReader(reading, 1),
      swept: walk.kind === 'poll' ? null : { ordinal: walk.pages - 1, cursor: page.cursor, digest, summary },
      doubtIfNew: items === null ? null : doubtIfNew(reading, walk, items, page.hasMore),
    });
    if (result === 'differs') return await record(checkItems(reading, page, digest));
    if (highestId !== null) reading.highestId = Math.max(reading.highestId ?? highestId, highestId);
    return result;
  };
  // Only a sweep stores pages, so the rows of a poll are compared.
  return await record(walk.kind === 'poll' && arrived.seen === null ? checkItems(reading, page, digest) : arrived);
}
