import type { Ledger } from '../ledger/ledger.js';
import { knownPages } from '../ledger/pages.js';
import { acquireStreams, ensureStreams, heldStreams, type StreamName, wantedStreams } from '../ledger/streams.js';
import { type ReaderFence, type StreamProgress, writeProgress } from '../ledger/streams-progress.js';
import { type ReadingPlan, streamsOf } from './reading-plan.js';
import type { RoundKind } from '../cycles/round-queue.js';
import { RememberedStream } from './remembered-stream.js';
import { readSchedules, type Schedule } from './stream-facts.js';

/**
 * If more streams become due within this time after the next one, the next cycle starts later and reads all of them.
 */
const togetherMs = 100;
/** Maximum number of pages of each stream whose digests are loaded together with those of other streams. */
const maxPagesAtOnce = 100;

/** The streams of a pigeonhole as its reader remembers them. A stream that is being read is left alone. */
export class PigeonholeMemory {
  #streams = new Map<number, RememberedStream>();
  /** Epochs of the streams that the reader has acquired. It keeps them, whatever it forgets. */
  readonly #epochs = new Map<number, number>();
  #ensured = '';
  #schedule: Schedule | null = null;
  #isCurrent = false;
  /** Streams that have to be loaded again once their read has ended. */
  readonly #outdated = new Set<RememberedStream>();

  constructor(
    private readonly ledger: Ledger,
    private readonly fence: ReaderFence | null,
  ) {}

  get schedule(): Schedule {
    return this.#schedule!;
  }

  /** True if nothing was stored since the streams were loaded. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Notes that this reader has changed the ledger, so that the streams have to be loaded again. */
  changed({ hasNews }: { readonly hasNews: boolean }): void {
    this.#isCurrent = false;
    if (hasNews) for (const stream of this.#streams.values()) stream.forgetPolls();
  }

  /** Forgets everything, because others have changed the ledger. */
  forget(): void {
    this.changed({ hasNews: true });
    this.#ensured = '';
  }

  /** Stores what is not stored yet, and loads the streams, if the ledger has changed. @param isBusy whether a stream is being read */
  async refresh(pigeonholeNumber: number, plan: ReadingPlan, isBusy: (streamId: number) => boolean): Promise<void> {
    if (this.#isCurrent) return;
    await this.save(isBusy);
    this.#isCurrent = true; // a change during the following statements counts as a later one
    try {
      const [schedule] = (await readSchedules(this.ledger, [pigeonholeNumber])).values();
      this.#schedule = schedule!;
      await this.#ensure(pigeonholeNumber, streamsOf(plan, [...schedule!.sessions.keys()]));
      const before = this.#streams;
      const wanted = await wantedStreams(this.ledger, pigeonholeNumber);
      this.#streams = new Map(
        wanted.map((row) => {
          const known = before.get(row.id);
          if (known !== undefined && isBusy(row.id)) {
            this.#outdated.add(known);
            return [row.id, known];
          }
          const stream = new RememberedStream(row);
          if (known !== undefined) stream.keepPages(known);
          return [row.id, stream];
        }),
      );
    } catch (error) {
      this.#isCurrent = false;
      throw error;
    }
  }

  async #ensure(pigeonholeNumber: number, names: readonly StreamName[]): Promise<void> {
    const ensured = JSON.stringify(names);
    if (ensured === this.#ensured) return;
    await ensureStreams(this.ledger, pigeonholeNumber, names);
    this.#ensured = ensured;
  }

  find(streamId: number): RememberedStream | undefined {
    return this.#streams.get(streamId);
  }

  /** Returns the streams that are due, the longest due first, and the time until the next cycle is worthwhile. */
  due(): { readonly due: RememberedStream[]; readonly nextDueInMs: number | null } {
    const all = [...this.#streams.values()].map((stream) => ({ stream, inMs: stream.inMs }));
    all.sort((a, b) => a.inMs - b.inMs || a.stream.id - b.stream.id);
    const next = all.find(({ inMs }) => inMs > 0);
    const last = all.findLast(({ inMs }) => next !== undefined && inMs <= next.inMs + togetherMs);
    return {
      due: all.filter(({ inMs }) => inMs <= 0).map(({ stream }) => stream),
      nextDueInMs: next === undefined || last === undefined ? null : Math.ceil(last.inMs),
    };
  }

  /** Urgency of the next cycle, as far as this reader has read the streams that are due. */
  get nextKind(): RoundKind {
    const { due } = this.due();
    const now = this.ledger.clock.nowMs();
    if (due.some(({ isLive }) => isLive)) return 'live';
    const isBackground = due.length > 0 && due.every((stream) => stream.isNew || stream.isWalking(now));
    return isBackground ? 'background' : 'poll';
  }

  /** Makes sure that the leases of these streams are held and loaded. */
  async hold(streams: readonly RememberedStream[]): Promise<void> {
    const missing = streams.filter(({ lease }) => lease === null);
    const isHeld = ({ id }: RememberedStream): boolean => this.#epochs.has(id);
    const held = missing.filter(isHeld).map(({ id }) => ({ streamId: id, epoch: this.#epochs.get(id)! }));
    const free = missing.filter((stream) => !isHeld(stream)).map(({ id }) => id);
    const leases = [
      ...(held.length === 0 ? [] : await heldStreams(this.ledger, held)),
      ...(free.length === 0 ? [] : await acquireStreams(this.ledger, free, this.fence)),
    ];
    if (leases.length === 0) return;
    const places = leases.map(({ streamId, sweep }) => ({ streamId, from: sweep?.pages ?? 0 }));
    const known = await knownPages(this.ledger, places, maxPagesAtOnce);
    for (const lease of leases) {
      const { streamId, epoch } = lease;
      const pages = known.get(streamId)!;
      this.#epochs.set(streamId, epoch);
      // A longer list loads more of them at once, when it is swept.
      const isWhole = pages.until === Number.POSITIVE_INFINITY;
      missing.find(({ id }) => id === streamId)!.loaded(lease, isWhole ? pages : undefined);
    }
  }

  /** Notes the end of a read. @param end.isQuiet false: the read has stored something */
  ended(stream: RememberedStream, end: { readonly isQuiet: boolean; readonly hasNews: boolean }): void {
    const isOutdated = this.#outdated.delete(stream);
    if (end.isQuiet && !isOutdated) return;
    if (!end.isQuiet) stream.lease = null;
    this.changed(end);
  }

  takeProgress(): StreamProgress[] {
    return [...this.#streams.values()].map((stream) => stream.takeProgress()).filter((progress) => progress !== null);
  }

  /** Stores what is not stored yet, except of streams that are being read. */
  async save(isBusy: (streamId: number) => boolean): Promise<void> {
    await this.saveProgress();
    for (const stream of this.#streams.values()) {
      if (stream.isAhead && !isBusy(stream.id)) await stream.savePosition(this.ledger, stream.lease!);
    }
  }

  /** Stores the progress of the reads that have ended. */
  async saveProgress(): Promise<void> {
    // A refused progress is lost: the stream is read a little early.
    await writeProgress(this.ledger.db, this.fence, this.takeProgress());
  }
}
