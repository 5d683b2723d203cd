import { performance } from 'node:perf_hooks';
import type { Ledger } from '../ledger/ledger.js';
import { lockPigeonhole } from '../ledger/lock-pigeonhole.js';
import { type KnownPage, type KnownPages, knownPages } from '../ledger/pages.js';
import type { NextReads, StreamLease, WantedStream } from '../ledger/streams.js';
import type { StreamProgress, SweepProgress } from '../ledger/streams-progress.js';
import { storeQuietStart } from '../ledger/streams-walked.js';
import type { OpenWalk } from '../ledger/walk.js';
import { saveWalk } from '../ledger/walks.js';
import type { KnownFrames } from '../pigeonhole/answer.js';
import type { Priority } from '../requests/quota.js';
import { hasIds } from './to-items.js';
import { orderAfterSweep } from './walk-progress.js';
import type { ServiceListName } from '../base/lists.js';

/** Page digests loaded at a time. Pages beyond this number are compared item by item. */
const maxKnownPages = 2000;
/** Maximum number of received pages that are recognized by their bodies. Those of longer lists are parsed. */
const maxFrames = 100;

/**
 * What a reader remembers of one stream: a copy of what the ledger held after this reader's last commit, and what has
 * been read since without finding anything. It is not evidence that the ledger does not have: whatever is not stored
 * yet is lost when the process ends, and the stream is read a little early.
 *
 * A read is *quiet* as long as each of its pages equals the one at its place in the last sweep or poll, and nothing of
 * the stream is open (`StreamLease.isSettled`). A quiet read sends no statement.
 */
export class RememberedStream {
  readonly id: number;
  readonly list: string;
  readonly sessionId: number;
  readonly isNew: boolean;
  /** The stream as the ledger holds it, advanced by quiet reads; null: it has to be loaded. */
  lease: StreamLease | null = null;
  /** Whether people expected its items within seconds when it was last read. */
  isLive = false;
  /** Number of requests of the last quiet read by priority; empty: there was none. */
  requests: ReadonlyMap<Priority, number> = new Map();
  /** Instant at which the stream is due, by `performance.now()`. */
  #dueAt: number;
  #isWalking: boolean;
  /** Epoch ms by the database's clock; null: a sweep is in progress. */
  #sweepDueAt: number | null = null;
  /** The stored due times, the first one in epoch ms: others were requested from outside. */
  #storedDueAt = 0;
  #plannedSweepAt: Date | null = null;
  /** A walk whose position is not stored, and the end of a quiet poll before it. */
  #unsaved: OpenWalk | null = null;
  #polledAt: Date | null = null;
  #progress: StreamProgress | null = null;
  #swept: SweepProgress | null = null;
  #hasStoredPoll = false;
  #pages: KnownPages | null = null;
  #frames: KnownFrames = new Map();
  /** Pages of polls by their cursor. */
  readonly #polled = new Map<string | null, KnownPage>();

  constructor({ id, list, sessionId, isNew, walking, inMs }: WantedStream) {
    this.id = id;
    this.list = list;
    this.sessionId = sessionId;
    this.isNew = isNew;
    this.#isWalking = walking;
    this.#dueAt = performance.now() + inMs;
  }

  /** Milliseconds until the stream is due; 0 or less: it is due. */
  get inMs(): number {
    return this.#dueAt - performance.now();
  }

  /** Whether a sweep is due, which may take many pages. */
  isWalking(nowMs: number): boolean {
    return this.lease === null ? this.#isWalking : this.#isSweepDue(nowMs);
  }

  #isSweepDue(nowMs: number): boolean {
    return this.#sweepDueAt !== null && this.#sweepDueAt <= nowMs;
  }

  /** Takes over what the ledger holds now. @param pages undefined: those that a walk needs are loaded when it starts */
  loaded(lease: StreamLease, pages: KnownPages | undefined): void {
    this.lease = lease;
    this.#pages = pages ?? null;
    this.#sweepDueAt = lease.sweepDueAt === null ? null : lease.sweepDue ? 0 : lease.sweepDueAt.getTime();
    this.#storedDueAt = lease.dueAt.getTime() + 1; // an instant in JavaScript lacks the microseconds
    this.#plannedSweepAt = lease.sweepDueAt;
    this.#hasStoredPoll = lease.poll !== null;
  }

  /** Returns the pages that the service has sent, so that they are not parsed again. */
  frames(): KnownFrames {
    if (this.#frames.size > maxFrames) this.#frames.clear();
    return this.#frames;
  }

  /** Takes over the received pages, and those of polls, from before the stream was loaded again. */
  keepPages(before: RememberedStream): void {
    this.#frames = before.#frames;
    this.requests = before.requests;
    this.isLive = before.isLive;
    for (const [cursor, page] of before.#polled) this.#polled.set(cursor, page);
  }

  forgetPolls(): void {
    this.#polled.clear();
  }

  /** Remembers a page of a poll that the ledger holds now as the page shows it. */
  rememberPoll(cursor: string | null, page: KnownPage): void {
    this.#polled.set(cursor, page);
  }

  /** Returns the remembered pages of a poll, or those of the last sweep from a walk's position onwards. */
  async pagesFor(
    ledger: Ledger,
    walk: OpenWalk,
  ): Promise<{ at(ordinal: number, cursor: string | null): KnownPage | undefined }> {
    if (walk.kind === 'poll') return { at: (_ordinal, cursor) => this.#polled.get(cursor) };
    const { streamId } = this.lease!;
    const from = walk.pages;
    if (this.#pages === null || from < this.#pages.from || from >= this.#pages.until)
      this.#pages = (await knownPages(ledger, [{ streamId, from }], maxKnownPages)).get(streamId)!;
    const { pages } = this.#pages;
    return { at: (ordinal) => pages.get(ordinal) };
  }

  /** Whether the next read may be quiet. An unfinished poll in the ledger has to end there. */
  get isSettled(): boolean {
    const { lease } = this;
    return lease !== null && lease.isSettled && lease.sweeps > 0 && !this.#hasStoredPoll;
  }

  /** Starts a read: returns the stream's lease as of now. */
  startRead(now: Date): StreamLease {
    const lease = this.lease!;
    // What the database said when the stream was loaded may be later than this process's estimate of its clock.
    const takenAt = now > lease.takenAt ? now : lease.takenAt;
    return { ...lease, sweepDue: this.#isSweepDue(takenAt.getTime()), takenAt };
  }

  /** Notes that a walk has advanced by a page that showed nothing new. */
  advance(lease: StreamLease, walk: OpenWalk): StreamLease {
    if (walk.kind === 'sweep' && walk.pages === 1) this.#sweepDueAt = null;
    this.#unsaved = walk;
    return { ...lease, [walk.kind]: walk };
  }

  /** Notes the end of a poll that showed nothing new. */
  endPoll(lease: StreamLease, now: Date): StreamLease {
    this.#unsaved = null;
    this.#polledAt = now;
    return { ...lease, poll: null };
  }

  /** Notes the end of a sweep that showed nothing new. @param end.sweepInMs time until the next one is due */
  endSweep(
    lease: StreamLease,
    walk: OpenWalk,
    { now, sweepInMs }: { readonly now: Date; readonly sweepInMs: number },
  ): StreamLease {
    this.#unsaved = null;
    // Another sweep was requested since this one started.
    const isRequested = this.#isSweepDue(now.getTime()) && this.#sweepDueAt! > walk.startedAt.getTime();
    const sweepDueAt = isRequested ? this.#sweepDueAt! : now.getTime() + sweepInMs;
    this.#sweepDueAt = sweepDueAt;
    this.#swept = {
      sweeps: walk.number,
      startedAt: walk.startedAt,
      plannedAt: isRequested ? null : this.#plannedSweepAt,
      firstAt: walk.firstAt!,
      sweptAt: now,
      sweepDueAt: new Date(sweepDueAt),
    };
    return { ...lease, sweep: null, sweeps: walk.number, sweptAt: now };
  }

  /** Notes the end of a read that found nothing, and when the stream is due again. */
  endRead(lease: StreamLease, { afterNothing: next }: NextReads, now: Date): StreamLease {
    const dueInMs = this.#isSweepDue(now.getTime()) ? 0 : next.dueInMs;
    const quietReads = lease.quietReads + 1;
    this.#dueAt = performance.now() + dueInMs;
    this.#polledAt = null;
    this.#progress = {
      streamId: this.id,
      epoch: lease.epoch,
      polledAt: now,
      dueAt: new Date(now.getTime() + dueInMs),
      askedAfter: new Date(Math.max(lease.takenAt.getTime(), this.#storedDueAt)),
      everyMs: next.everyMs,
      reason: next.reason,
      wantedMs: next.wantedMs,
      quietReads,
      swept: this.#swept,
    };
    return { ...lease, quietReads };
  }

  /** Remembers the lease after a quiet read, and the requests that such a read makes. */
  keep(lease: StreamLease, requests: ReadonlyMap<Priority, number>): void {
    this.lease = lease;
    this.requests = requests;
  }

  /** Returns the progress that is not stored yet, and counts it as stored; null: there is none. */
  takeProgress(): StreamProgress | null {
    const progress = this.#progress;
    if (progress === null) return null;
    this.#progress = null;
    this.#swept = null;
    this.#storedDueAt = progress.dueAt.getTime() + 1;
    if (progress.swept !== null) this.#plannedSweepAt = progress.swept.sweepDueAt;
    return progress;
  }

  /** True if a walk has advanced, or a poll has ended, and the ledger does not know it. */
  get isAhead(): boolean {
    return this.#unsaved !== null || this.#polledAt !== null;
  }

  /**
   * Stores the position of a walk that has advanced only in memory, and the end of a poll before it. Store the progress
   * of earlier reads first (`takeProgress`).
   * @throws {LedgerError} kind `stale` if the stream has a newer reader
   */
  async savePosition(ledger: Ledger, lease: StreamLease): Promise<void> {
    if (!this.isAhead) return;
    const walk = this.#unsaved;
    await ledger.db.transaction(
      async (tx) => {
        await lockPigeonhole(tx, lease);
        const plannedAt = this.#plannedSweepAt;
        const sweep = walk?.kind === 'sweep' ? { startedAt: walk.startedAt, plannedAt } : null;
        await storeQuietStart(tx, this.id, { polledAt: this.#polledAt, sweep });
        if (walk !== null) await saveWalk(tx, this.id, walk);
      },
      { beginsByLocking: true },
    );
    this.#unsaved = null;
    this.#polledAt = null;
  }
}

/**
 * Whether a walk may end without a statement: it shows the same pages, the same order and the same place of the next
 * poll as the last one. Pure.
 */
export function endsAsBefore(lease: StreamLease, walk: OpenWalk): boolean {
  const isAscending = lease.order === 'ascending';
  const isSamePlace =
    !isAscending || (walk.checkpoint === lease.checkpoint && walk.checkpointKey === lease.checkpointKey);
  const isSameHead = lease.order !== 'descending' || walk.topId === null || walk.topId <= (lease.headId ?? -1);
  if (!isSamePlace || !isSameHead) return false;
  if (walk.kind === 'poll') return true;
  if (walk.pages !== lease.pageCount || walk.items !== lease.itemCount) return false;
  // In a list without ids, rows of several pages may be equal, and a filtered request counts them (`doubledItems`).
  if (walk.pages > 1 && !hasIds(lease.list as ServiceListName)) return false;
  const after = orderAfterSweep(lease, walk.direction);
  return after.order === lease.order && (after.order === walk.direction || after.cleanWalks === lease.cleanWalks);
}
