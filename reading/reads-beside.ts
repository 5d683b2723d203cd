import { performance } from 'node:perf_hooks';
import type { SlowLists } from '../requests/slow-lists.js';

/** A read that makes no progress for this long is slow: the cycle continues without it. */
const patienceMs = 2000;
/**
 * The same for the first read of a list. It is longer, because items are stored without their authors until sessions,
 * attendees and Q&A questions are known.
 */
const patienceOfNewMs = 10_000;

/** One read of a stream. */
export interface Read {
  readonly streamId: number;
  /** True if no read of the stream has finished yet. */
  readonly isNew: boolean;
  /** Reads the stream. Calls `onProgress` with each page that arrives. */
  readonly run: (onProgress: () => void) => Promise<void>;
}

/**
 * The reads of slow lists that continue beside the other reads of a pigeonhole, so that one slow list does not delay
 * the others. They belong to one activity, which waits for all of them before it ends: its heartbeat, its cancellation
 * and its configuration apply to them, and no other reader takes their streams meanwhile.
 */
export class ReadsBeside {
  readonly #open = new Map<number, Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly workspace: string,
    private readonly slowLists: SlowLists,
  ) {}

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Whether a stream is being read. */
  isReading(streamId: number): boolean {
    return this.#open.has(streamId);
  }

  /** Whether a stream has to be left alone in this round: it is being read, or too many slow lists are. */
  skips(streamId: number): boolean {
    if (this.#open.has(streamId)) return true;
    return this.slowLists.isSlow(streamId) && !this.slowLists.hasRoom(this.workspace);
  }

  /** Whether the stream's list was slow a short time ago. */
  isSlow(streamId: number): boolean {
    return this.slowLists.isSlow(streamId);
  }

  /**
   * Waits until a read has ended, or until it turns out to be slow and continues beside the others.
   * @throws the error of the read, unless it continues; then `throwFailure` throws it
   */
  async run({ streamId, isNew, run }: Read): Promise<void> {
    const stall = new Stall(this.slowLists.isSlow(streamId) ? 0 : isNew ? patienceOfNewMs : patienceMs);
    let end: (() => void) | undefined;
    const ended = run(() => stall.restart()).finally(() => {
      stall.stop();
      if (stall.longestMs < patienceMs) this.slowLists.recovered(streamId);
      this.#open.delete(streamId);
      end?.();
    });
    const isSlow = await Promise.race([ended.then(() => false), stall.reached.then(() => true)]);
    if (!isSlow || !this.slowLists.hasRoom(this.workspace)) return await ended;
    end = this.slowLists.started(this.workspace, streamId);
    this.#open.set(
      streamId,
      ended.catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Waits until a read has ended, at most `ms`. */
  async next(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([timeUp, ...this.#open.values()]);
    clearTimeout(timer);
  }

  /** Waits until all reads have ended. */
  async all(): Promise<void> {
    while (!this.isEmpty) await Promise.all(this.#open.values());
  }

  /** @throws the error of a read that has failed since it continued */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** Notices that a read makes no progress. */
class Stall {
  readonly reached: Promise<void>;
  #reach!: () => void;
  /** The longest time so far without progress. */
  longestMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #since = performance.now();

  constructor(private readonly ms: number) {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.restart();
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(this.#reach, this.ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - this.#since);
    this.#since = now;
  }
}
