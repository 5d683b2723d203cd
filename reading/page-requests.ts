import { performance } from 'node:perf_hooks';
import type { NextReads } from '../ledger/streams.js';
import type { ItemOrder, OpenWalk } from '../ledger/walk.js';
import type { Page } from '../pigeonhole/page.js';
import type { Permits } from '../requests/key-permits.js';
import type { Permit } from '../requests/service-gate.js';
import type { Priority } from '../requests/quota.js';
import { circleError, listRef, type StreamReading } from './stream-reading.js';

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

/**
 * Number of permits that a walk takes with one statement. With a statement before each request, the request is sent only
 * after this thread has hashed the page before it: at 50 ms a response, a page took 68 ms.
 */
const permitsAtOnce = 10;

/** The requests of a walk within the limits of its cycle. */
export class PageRequests {
  /** Aborts the requests of this walk. */
  readonly #stop = new AbortController();
  readonly #onAbort = (): void => this.#stop.abort(this.reading.readLimits.signal.reason);
  readonly #usedCursors = new Set<string>();
  readonly #pagesBefore: number;
  #inProgress = 0;
  /** Number of pages requested so far. */
  #requested = 0;
  /** The permits taken ahead. */
  #permits: Promise<Permits> | undefined;

  constructor(
    private readonly reading: StreamReading,
    private readonly from: OpenWalk,
    private readonly budget: WalkBudget,
  ) {
    const { signal } = reading.readLimits;
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) this.#onAbort();
    this.#pagesBefore = reading.cycle.pages;
  }

  /**
   * Requests the page with this cursor.
   * @throws {ApiError} kind `protocol` if this walk has used the cursor before, and as `ServiceGate.page`
   */
  async page(cursor: string | null): Promise<Page> {
    const { deps, place, lease, requests, stream } = this.reading;
    if (cursor !== null && this.#usedCursors.has(cursor)) throw circleError(this.reading);
    if (cursor !== null) this.#usedCursors.add(cursor);
    const { priority } = this.budget;
    requests.set(priority, (requests.get(priority) ?? 0) + 1);
    const permit = { workspace: place.workspace, priority };
    this.#inProgress += 1;
    try {
      const permits = await this.#permitsFor(permit);
      return await deps.gate.page(deps, { ...permit, permits }, listRef(place.pigeonholeId, lease), {
        cursor,
        signal: this.#stop.signal,
        known: stream.frames(),
      });
    } finally {
      this.#inProgress -= 1;
    }
  }

  /** Returns the permits of the cycle as long as there are any, and for later pages those that are taken ahead. */
  async #permitsFor(permit: Pick<Permit, 'workspace' | 'priority'>): Promise<Permits | undefined> {
    const { deps, readLimits, lease } = this.reading;
    const ofCycle = readLimits.permits?.get(permit.priority);
    const requested = this.#requested;
    this.#requested += 1;
    if (requested === 0 || ofCycle?.isEmpty === false) return ofCycle;
    const before = await this.#permits;
    if (before?.isEmpty === false) return before;
    const left =
      Math.min(this.budget.maxPages, (lease.pageCount ?? Number.POSITIVE_INFINITY) - this.from.pages) - requested;
    this.#permits = deps.gate.permitsAhead(deps, permit, Math.min(permitsAtOnce, left));
    return await this.#permits;
  }

  /** Whether the cycle's limits allow the page with this ordinal (position in the walk, from 0). */
  hasRoomFor(ordinal: number): boolean {
    const { readLimits, deps } = this.reading;
    const pages = ordinal - this.from.pages;
    const read = this.#pagesBefore + pages;
    const isLate = read > 0 && performance.now() > readLimits.latest;
    const isTimeUp =
      isLate || (read >= readLimits.minPages && (performance.now() > readLimits.until || deps.stopping.aborted));
    return pages < this.budget.maxPages && !isTimeUp && !readLimits.halted() && !this.#stop.signal.aborted;
  }

  /**
   * Aborts the request in progress, if there is one (the abort of a walk that has ended costs more than its requests), and
   * returns the permits that no request has used.
   */
  async close(): Promise<void> {
    this.reading.readLimits.signal.removeEventListener('abort', this.#onAbort);
    if (this.#inProgress > 0) this.#stop.abort();
    await (await this.#permits)?.end();
  }
}
