import type { SinkStanding } from './stored-breaker.js';

const lanesAtOnce = 4;
/** So many lanes that fail one after the other, with none that passes, are the sink's fault and not theirs. */
const failuresToOpen = 2;
const longestWaitMs = 5 * 60_000;
/** A sink that has taken so many at once after an outage takes whole batches again. */
const rampedUp = 64;

/**
 * One for a turn of a sink: whether its lanes may go on. A sink none of whose lanes passes is tried by one lane with
 * one change, and not by each of them for itself; once that passes, twice as many are sent each time, so that a
 * backlog does not fell what has just come back. Pure but for what it counts.
 */
export class SinkBreaker {
  #ramp: number | null;
  #failures = 0;
  #passed = false;
  #retryInMs: number | null = null;

  /** @param fullBatch of the sink: a ramp that has reached it is over */
  constructor(
    private readonly before: Omit<SinkStanding, 'triedNowAtMs'>,
    private readonly fullBatch: number,
  ) {
    this.#ramp = before.failingForMs > 0 ? 1 : before.ramp;
  }

  /** Nothing may be sent now. */
  get isOpen(): boolean {
    return this.#retryInMs !== null || (this.before.failingForMs > 0 && !this.#passed && this.before.retryInMs > 0);
  }

  /** Pigeonholes that may be sent to at once. */
  get lanesAtOnce(): number {
    return this.#ramp === null ? lanesAtOnce : 1;
  }

  /** Changes that may be sent at once. */
  get batchSize(): number {
    return this.#ramp ?? this.fullBatch;
  }

  /** Not all that may be sent at other times. */
  get isRamping(): boolean {
    return this.#ramp !== null;
  }

  passed(): void {
    this.#passed = true;
    this.#failures = 0;
    if (this.#ramp === null) return;
    this.#ramp = this.#ramp * 2 >= Math.min(rampedUp, this.fullBatch) ? null : this.#ramp * 2;
  }

  /**
   * A lane found that nothing passes.
   * @param retryInMs when it will try again
   * @param failsAlone it did so before while others passed: that says nothing of the sink
   */
  failed(retryInMs: number, failsAlone: boolean): void {
    if (failsAlone) return;
    this.#failures += 1;
    const wasFailing = this.before.failingForMs > 0 && !this.#passed;
    if (this.#passed || (!wasFailing && this.#failures < failuresToOpen)) return;
    const own = Math.min(this.before.failingForMs / 2, longestWaitMs);
    this.#retryInMs = Math.max(this.#retryInMs ?? 0, retryInMs, own);
  }

  /** What is to be stored at the end of the turn; undefined: nothing has changed. */
  get verdict(): { readonly retryInMs: number | null; readonly ramp: number | null } | undefined {
    if (this.#retryInMs !== null) return { retryInMs: this.#retryInMs, ramp: null };
    if (!this.#passed) return undefined;
    const isAsBefore = this.before.failingForMs === 0 && this.before.ramp === this.#ramp;
    return isAsBefore ? undefined : { retryInMs: null, ramp: this.#ramp };
  }
}
