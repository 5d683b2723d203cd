import { performance } from 'node:perf_hooks';
import type { NextReads } from '../ledger/streams.js';
import type { ItemOrder, OpenWalk } from '../ledger/walk.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PageOptions } from '../pigeonhole/client.js';
import { listPath } from '../pigeonhole/list-request.js';
import type { Page } from '../pigeonhole/page.js';
import { requestPage, type Priority } from '../work/requests/request-page.js';
import type { AheadPermit } from '../work/requests/service-gate.js';
import type { StreamReading } from './stream-reading.js';
import type { ListRef } from '../pigeonhole/lists.js';
import type { ServiceListName } from '../base/list-names.js';

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

/** The page requests of one walk in one cycle, at most one page ahead of the page being stored. */
export class PageRequests {
  readonly #stop = new AbortController(); // aborts the request in progress when storing fails
  readonly #signal: AbortSignal;
  /**
   * Functions that allow received responses to be parsed. A response that is never parsed would keep its request open.
   */
  readonly #unread = new Set<() => void>();
  readonly #usedCursors = new Set<string>();
  readonly #pagesBefore: number;
  /** Permit for the next request, taken before that request's cursor is known. */
  #permit: Promise<AheadPermit | undefined> | undefined;

  constructor(
    private readonly reading: StreamReading,
    private readonly from: OpenWalk,
    private readonly budget: WalkBudget,
  ) {
    this.#signal = AbortSignal.any([reading.readLimits.signal, this.#stop.signal]);
    this.#pagesBefore = reading.cycle.pages;
  }

  /** Whether the cycle's limits allow the page with this ordinal. */
  hasRoomFor(ordinal: number): boolean {
    const { readLimits, deps } = this.reading;
    const pages = ordinal - this.from.pages;
    const read = this.#pagesBefore + pages;
    const isLate = read > 0 && performance.now() > readLimits.latest;
    const isTimeUp =
      isLate || (read >= readLimits.minPages && (performance.now() > readLimits.until || deps.stopping.aborted));
    return pages < this.budget.maxPages && !isTimeUp && !readLimits.halted() && !readLimits.signal.aborted;
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
  discard({ cursor, allowReading }: PageRequest): undefined {
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
    const permit = { workspace: place.workspace, priority: this.budget.priority, ahead: this.#permit };
    this.#permit = undefined;
    const pageOptions = { ...options, cursor, signal: this.#signal, onSent };
    return await requestPage(deps, permit, listRef(place.pigeonholeId, lease), pageOptions);
  }

  /** Takes the permit for a page before its cursor is known, if the cycle's limits allow that page. */
  takePermitAhead(ordinal: number): void {
    if (this.#permit !== undefined || !this.hasRoomFor(ordinal)) return;
    const { deps, place } = this.reading;
    this.#permit = deps.gate.takePermitAhead(deps, { workspace: place.workspace, priority: this.budget.priority });
    this.#permit.catch(() => undefined); // awaited by the request; until then a rejection must not count as unhandled
  }

  /** Aborts the request in progress and returns an unused permit. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const allowReading of this.#unread) allowReading();
    try {
      const permit = await this.#permit;
      if (permit !== undefined) await this.reading.deps.gate.returnPermit(permit);
    } catch {
      // The permit could not be taken or returned, because the store failed. It counts as used until the service's next
      // response corrects the count.
    }
  }
}

/**
 * Returns the error for a walk whose cursors lead back to pages that it has already read, so that it would never end.
 */
export function circleError({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): ApiError {
  return new ApiError(
    { method: 'GET', path: listPath(listRef(place.pigeonholeId, lease)) },
    {
      kind: 'protocol',
      problem: 'the service returned a cursor that leads back to pages which this walk has already read',
      mayHaveTakenEffect: false,
    },
  );
}

/** Returns a promise and the function that resolves it. */
export function createGate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Returns the reference by which the client requests a stream's list. */
function listRef(pigeonholeId: number, { list, sessionId }: { list: string; sessionId: number }): ListRef {
  const name = list as ServiceListName;
  switch (name) {
    case 'pigeonholes':
    case 'subscriptions':
      return { list: name };
    case 'votes':
    case 'answer_ratings':
    case 'answers':
      return { list: name, pigeonholeId, sessionId };
    default:
      return { list: name, pigeonholeId };
  }
}
