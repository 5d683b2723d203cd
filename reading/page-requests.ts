import { performance } from 'node:perf_hooks';
import type { NextReads } from '../ledger/streams.js';
import type { ItemOrder, OpenWalk } from '../ledger/walk.js';
import type { PageOptions } from '../pigeonhole/client.js';
import type { Page } from '../pigeonhole/page.js';
import type { Priority } from '../work/requests/quota.js';
import { requestPage } from '../work/requests/service-requests.js';
import { circleError, listRef, type StreamReading } from './stream-reading.js';
import { createGate } from '../base/gate.js';

export interface WalkBudget {
  /** Pages that the walk may read in this cycle. */
  readonly maxPages: number;
  readonly priority: Priority;
  /** True if the stream is live and this walk finds its new items: their age is then measured as the detection delay. */
  readonly detects: boolean;
  /** Computes the stream's next due times when the walk ends; null when this cycle reads the same stream again. */
  readonly planNextReads: ((ended: WalkEnd) => NextReads) | null;
}

export interface WalkEnd {
  readonly order: ItemOrder;
  /** Cursor at which the next poll starts; null when there is none yet. */
  readonly checkpoint: string | null;
  /** Number of pages in the whole walk. */
  readonly pages: number;
}

export interface PageRequest {
  readonly cursor: string | null;
  readonly page: Promise<Page>;
  /** Resolves when the request has been sent or has failed. */
  readonly sent: Promise<void>;
  /** The next cursor as guessed from the end of the unparsed response; undefined if it shows none or the request failed. */
  readonly earlyCursor: Promise<string | undefined>;
  /** Allows the response to be parsed. Until the caller calls it, the thread stays free for more urgent work. */
  readonly allowReading: () => void;
}

/** A received page, and what follows it. */
export interface ReceivedPage {
  readonly page: Page;
  /** The next page is read in this cycle. */
  readonly continues: boolean;
  /** The request for the next page, if it has been sent already. */
  readonly ahead: PageRequest | undefined;
}

/**
 * If a response took longer than this, the service is the bottleneck: the next request is sent before this page's
 * items are hashed.
 */
const slowAnswerMs = 10;
/** The page requests of one walk in one cycle, at most one page ahead of the page that arrives. */
export class PageRequests {
  readonly #stop = new AbortController(); // aborts the request in progress when storing fails
  readonly #signal: AbortSignal;
  /**
   * Functions that allow received responses to be parsed. A response that is never parsed would keep its request open.
   */
  readonly #unread = new Set<() => void>();
  readonly #usedCursors = new Set<string>();
  readonly #pagesBefore: number;

  constructor(
    private readonly reading: StreamReading,
    private readonly from: OpenWalk,
    private readonly budget: WalkBudget,
  ) {
    this.#signal = AbortSignal.any([reading.readLimits.signal, this.#stop.signal]);
    this.#pagesBefore = reading.cycle.pages;
  }

  /**
   * Waits for a requested page, and requests the next one by the cursor at the end of the response, before the response
   * is parsed. Without this, a first read misses its required speed (decision 0034).
   * @param ordinal the page's position in the walk, from 0
   * @param mayParse until it settles, the thread stays free for more urgent work
   */
  async receive(request: PageRequest, ordinal: number, mayParse: Promise<void>): Promise<ReceivedPage> {
    mayParse.then(request.allowReading, request.allowReading);
    // A poll from the newest item ends where a page reaches a known item, so it cannot request the next page early.
    const eager = this.from.untilId === null;
    const waitsSince = performance.now();
    const cursor = await request.earlyCursor;
    const isSlow = performance.now() - waitsSince > slowAnswerMs;
    let early = cursor !== undefined && eager && this.#hasRoomFor(ordinal + 1) ? this.request(cursor) : undefined;
    const page = await request.page;
    if (early !== undefined && early.cursor !== page.nextCursor) early = this.#discard(early);
    const continues = page.hasMore && (early !== undefined || this.#hasRoomFor(ordinal + 1));
    const ahead = eager && continues ? (early ?? this.request(page.nextCursor)) : undefined;
    // Hashing and converting the items of this page blocks the thread, which would delay the next request.
    if (isSlow) await ahead?.sent;
    return { page, continues, ahead };
  }

  /** Whether the cycle's limits allow the page with this ordinal. */
  #hasRoomFor(ordinal: number): boolean {
    const { readLimits, deps } = this.reading;
    const pages = ordinal - this.from.pages;
    const read = this.#pagesBefore + pages;
    const isLate = read > 0 && performance.now() > readLimits.latest;
    const isTimeUp =
      isLate || (read >= readLimits.minPages && (performance.now() > readLimits.until || deps.stopping.aborted));
    return pages < this.budget.maxPages && !isTimeUp && !readLimits.halted() && !this.#signal.aborted;
  }

  request(cursor: string | null): PageRequest {
    const sent = createGate();
    const received = createGate<string | undefined>();
    const parsing = createGate();
    this.#unread.add(parsing.open);
    const page = this.#send(cursor, { onSent: sent.open, onReceived: received.open, parseAfter: parsing.opened });
    const onEnd = (): void => {
      this.#unread.delete(parsing.open);
      sent.open();
      received.open(undefined);
    };
    page.then(onEnd, onEnd); // awaited later; until then a rejection must not count as unhandled
    return { cursor, page, sent: sent.opened, earlyCursor: received.opened, allowReading: parsing.open };
  }

  /**
   * Drops a request whose cursor was guessed wrong: the previous page, once parsed, named another one. Removes the
   * guessed cursor from the used ones, because a later page may still name it.
   */
  #discard({ cursor, allowReading }: PageRequest): undefined {
    if (cursor !== null) this.#usedCursors.delete(cursor);
    allowReading();
  }

  async #send(
    cursor: string | null,
    { onSent, ...options }: Pick<PageOptions, 'onReceived' | 'parseAfter'> & { onSent: () => void },
  ): Promise<Page> {
    const { deps, place, lease } = this.reading;
    if (cursor !== null && this.#usedCursors.has(cursor)) throw circleError(this.reading);
    if (cursor !== null) this.#usedCursors.add(cursor);
    const permit = { workspace: place.workspace, priority: this.budget.priority };
    const pageOptions = { ...options, cursor, signal: this.#signal, onSent };
    return await requestPage(deps, permit, listRef(place.pigeonholeId, lease), pageOptions);
  }

  /** Aborts the request in progress. */
  close(): void {
    this.#stop.abort();
    for (const allowReading of this.#unread) allowReading();
  }
}
