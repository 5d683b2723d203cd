import { performance } from 'node:perf_hooks';
import type { NextReads } from '../ledger/streams.js';
import type { ItemOrder, OpenWalk } from '../ledger/walk.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PageOptions } from '../pigeonhole/client.js';
import { listPath } from '../pigeonhole/list-request.js';
import type { Page } from '../pigeonhole/page.js';
import { askPage, type Priority } from '../work/asking/ask-page.js';
import { listRef } from '../work/asking/list-ref.js';
import type { AheadPermit } from '../work/asking/service-gate.js';
import type { StreamReading } from './stream-reading.js';

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

export interface Asked {
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
export class Requests {
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

/** A cursor that comes back leads round for ever. */
export function circle({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): ApiError {
  return new ApiError(
    { method: 'GET', path: listPath(listRef(place.pigeonholeId, lease)) },
    { kind: 'protocol', problem: 'a cursor came back that this walk has already used', mayHaveTakenEffect: false },
  );
}

export function createGate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
