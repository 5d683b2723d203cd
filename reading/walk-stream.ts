import { performance } from 'node:perf_hooks';
import { readingRules } from '../ledger/reading-rules.js';
import { type NewItems, prepareNewItems } from '../ledger/new-items.js';
import { hasAskedWith, type KnownPage, knownPages, type SweptPage } from '../ledger/pages.js';
import { type PageResult, recordPage, recordSamePage } from './record-page.js';
import { distrustStream, type NextReads } from '../ledger/streams.js';
import type { ItemOrder, OpenWalk, PageSummary } from '../ledger/walk.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PageOptions } from '../pigeonhole/client.js';
import { defaultCount, listPath } from '../pigeonhole/list-request.js';
import type { ListName } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import { askPage, type Priority } from '../work/asking/ask-page.js';
import { listRef } from '../work/asking/list-ref.js';
import { noteAnswer } from './note-answer.js';
import type { AheadPermit } from '../work/asking/service-gate.js';
import { breaksOrder, demoted, orderAfterSweep } from './stream-order.js';
import { foundNews, limitsOf, sinkIdsFor, type StreamReading } from './stream-reading.js';
import { summarizePage } from './summarize-page.js';
import { hasIds, type PageItems, toItems } from './to-items.js';
import { advanceWalk, checkpointHolds, reachesKnown } from './walk-progress.js';

/** Where a page was waited for so long, the service sets the pace: the next one is asked for before this is looked at. */
const slowAnswerMs = 10;
/**
 * After so many pages more are to be expected: permits are taken ahead, so that a request that could be made while a
 * page is looked at does not wait for its permit until that is done. A short walk would mostly give its last one back.
 */
const longWalk = 4;
/** Digests looked up at a time; a walk of more pages compares the rest. */
const mostKnownPages = 2000;

export interface WalkBudget {
  /** Pages that it may read in this turn. */
  readonly mostPages: number;
  readonly priority: Priority;
  /** When the stream is due again, should the walk end and leave this order; null: the turn reads on in this stream. */
  readonly next: ((ended: WalkEnd) => NextReads) | null;
}

export interface WalkEnd {
  readonly order: ItemOrder;
  /** Where the next poll would start; null: nowhere yet. */
  readonly checkpoint: string | null;
  /** Of the whole walk. */
  readonly pages: number;
}

/** `distrusted`: what the walk rested on does not hold; only a sweep from the first page is left. */
export type WalkEnding = 'finished' | 'more' | 'distrusted';

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

interface Asked {
  readonly cursor: string | null;
  readonly page: Promise<Page>;
  /** Resolves when the request has been sent, or will not be. */
  readonly isUnderWay: Promise<void>;
  /** The next cursor, once the page has come, as its end seems to tell it; undefined where none, or no page came. */
  readonly glimpsed: Promise<string | undefined>;
  /** Until this is called, a page that has come is not read: whoever asked has more urgent work for this thread. */
  readonly read: () => void;
}

/** The requests of one walk in one turn. */
class Requests {
  readonly #stop = new AbortController(); // ends the request under way when storing fails
  readonly #signal: AbortSignal;
  /** Lets pages be read that have come or are to come: unread, a request would never be over. */
  readonly #unread = new Set<() => void>();
  readonly #asked = new Set<string>();
  readonly #pagesBefore: number;
  /** Of the request behind the one under way. */
  #permit: Promise<AheadPermit | undefined> | undefined;

  constructor(
    private readonly reading: StreamReading,
    private readonly from: OpenWalk,
    private readonly budget: WalkBudget,
  ) {
    this.#signal = AbortSignal.any([reading.limits.signal, this.#stop.signal]);
    this.#pagesBefore = reading.turn.pages;
  }

  /** Whether the turn has room for one more page. */
  mayAsk(ordinal: number): boolean {
    const { limits, to } = this.reading;
    const pages = ordinal - this.from.pages;
    const read = this.#pagesBefore + pages;
    const isLate = read > 0 && performance.now() > limits.latest;
    const enough = isLate || (read >= limits.leastPages && (performance.now() > limits.until || to.stopping.aborted));
    return pages < this.budget.mostPages && !enough && !limits.halted() && !limits.signal.aborted;
  }

  ask(cursor: string | null): Asked {
    const sent = createGate();
    const come = createGate<string | undefined>();
    const reading = createGate();
    this.#unread.add(reading.open);
    const page = this.#ask(cursor, { onAsked: sent.open, onCome: come.open, readAfter: reading.opened });
    const onEnd = (): void => {
      this.#unread.delete(reading.open);
      sent.open();
      come.open(undefined);
    };
    page.then(onEnd, onEnd); // awaited later; until then a refusal must not count as unhandled
    return { cursor, page, isUnderWay: sent.opened, glimpsed: come.opened, read: reading.open };
  }

  /** The page before it, once read, names another cursor: this answer is nobody's, and its cursor may come yet. */
  forget({ cursor, read }: Asked): undefined {
    if (cursor !== null) this.#asked.delete(cursor);
    read();
  }

  async #ask(
    cursor: string | null,
    { onAsked, ...how }: Pick<PageOptions, 'onCome' | 'readAfter'> & { onAsked: () => void },
  ): Promise<Page> {
    const { to, place, lease } = this.reading;
    if (cursor !== null && this.#asked.has(cursor)) throw circle(this.reading);
    if (cursor !== null) this.#asked.add(cursor);
    const permit = { workspace: place.workspace, priority: this.budget.priority, ahead: this.#permit };
    this.#permit = undefined;
    const options = { ...how, cursor, signal: this.#signal };
    return await askPage(to, permit, listRef(place.pigeonholeId, lease), options, onAsked);
  }

  /** Where the turn has room for that page: the permit is there when it can be asked for. */
  takePermitAhead(ordinal: number): void {
    if (this.#permit !== undefined || !this.mayAsk(ordinal)) return;
    const { to, place } = this.reading;
    this.#permit = to.gate.takeAhead(to, { workspace: place.workspace, priority: this.budget.priority });
    this.#permit.catch(() => undefined); // awaited by the request; until then a failure must not count as unhandled
  }

  /** Ends the request under way, and gives back the permit of one that was not made. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const read of this.#unread) read();
    try {
      const permit = await this.#permit;
      if (permit !== undefined) await this.reading.to.gate.giveBack(permit);
    } catch {
      // the store failed: the permit stays spent, which the service's next answer puts right
    }
  }
}

async function pagesKnown({ to, lease, place }: StreamReading, walk: OpenWalk): Promise<Map<number, KnownPage>> {
  if (walk.kind === 'poll') return new Map();
  if (walk.cursor !== null && (await hasAskedWith(to.ledger, lease, walk))) throw circle({ place, lease });
  return await knownPages(to.ledger, lease, walk.pages, mostKnownPages);
}

/** A cursor that comes back leads round for ever. */
function circle({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): ApiError {
  return new ApiError(
    { method: 'GET', path: listPath(listRef(place.pigeonholeId, lease)) },
    { kind: 'protocol', problem: 'a cursor came back that this walk has already used', mayHaveTakenEffect: false },
  );
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

function createGate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
