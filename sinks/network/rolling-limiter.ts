/** The clock of a limiter or schedule; tests provide their own. */
export interface Clock {
  /** Monotonic milliseconds from any start. */
  now(): number;
  /**
   * Calls once after the delay.
   * @returns a function that cancels the call
   */
  after(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(), // monotonic: a set wall clock must not open or close a limit
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

export interface RollingLimit {
  /** Maximum number of requests within any `windowMs`. */
  readonly limit: number;
  readonly windowMs: number;
}

/** The right to make one request. */
export interface Permit {
  /** Call it when the request was answered or failed. */
  done(): void;
}

interface Waiting {
  readonly grant: (permit: Permit | undefined) => void;
  readonly stop: () => void;
}

/**
 * Limits requests to an account per rolling window, for all callers of the account, in order of arrival.
 *
 * A permit counts from when it is granted until `windowMs` after the answer. The vendor counted the request at some
 * time in between, so its window never holds more than ours, whatever the network does to the spacing. The cost is the
 * duration of one answer per window.
 */
export class RollingLimiter {
  readonly #clock: Clock;
  readonly windowMs: number;
  readonly #max: number;
  #limit: number;
  #open = 0;
  /** Times at which answered requests stop counting, earliest first. */
  readonly #freeAt: number[] = [];
  readonly #waiting = new Set<Waiting>();
  #closedUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  /** @param max upper bound, whatever limit the account reports */
  constructor({ limit, windowMs }: RollingLimit, max = Number.POSITIVE_INFINITY, clock: Clock = systemClock) {
    this.#limit = Math.min(limit, max);
    this.#max = max;
    this.windowMs = windowMs;
    this.#clock = clock;
  }

  /**
   * Waits for a permit, in order of arrival. Returns undefined if the signal was aborted or there was none in time.
   * @param withinMs longest wait
   */
  async take(signal: AbortSignal, withinMs: number): Promise<Permit | undefined> {
    if (signal.aborted) return undefined;
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#permit();
    return await new Promise((resolve) => {
      const giveUp = (): void => {
        if (!this.#waiting.delete(waiting)) return;
        waiting.grant(undefined);
        this.#serve(); // also cancels a timer that is no longer needed
      };
      const cancelDeadline = this.#clock.after(withinMs, giveUp);
      signal.addEventListener('abort', giveUp);
      const waiting: Waiting = {
        grant: (permit) => {
          waiting.stop();
          resolve(permit);
        },
        stop: () => {
          cancelDeadline();
          signal.removeEventListener('abort', giveUp);
        },
      };
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  /**
   * Applies an answer's report of the account: its limit, and how much of the window is used. Requests beyond ours
   * were made by others, and count as if they had just been made.
   */
  learn({ limit, used }: { readonly limit: number; readonly used?: number }): void {
    if (limit >= 1) this.#limit = Math.min(limit, this.#max);
    if (used !== undefined) {
      const others = Math.min(used, this.#limit) - this.#used();
      const freeAt = this.#clock.now() + this.windowMs;
      for (let slot = 0; slot < others; slot += 1) this.#freeAt.push(freeAt);
    }
    this.#serve();
  }

  /** Grants no permit for this time, because the vendor throttled the account despite the limit. */
  close(forMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.now() + forMs);
    this.#serve();
  }

  /** Reverses `close`. */
  reopen(): void {
    this.#closedUntil = Number.NEGATIVE_INFINITY;
    this.#serve();
  }

  #permit(): Permit {
    this.#open += 1;
    let answered = false;
    return {
      done: () => {
        if (answered) return;
        answered = true;
        this.#open -= 1;
        this.#freeAt.push(this.#clock.now() + this.windowMs);
        this.#serve();
      },
    };
  }

  #used(): number {
    const now = this.#clock.now();
    while (this.#freeAt.length > 0 && this.#freeAt[0]! <= now) this.#freeAt.shift();
    return this.#open + this.#freeAt.length;
  }

  #hasRoom(): boolean {
    return this.#clock.now() >= this.#closedUntil && this.#used() < this.#limit;
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom()) break;
      this.#waiting.delete(waiting);
      waiting.grant(this.#permit());
    }
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#waiting.size === 0) return;
    const nextAt = Math.max(this.#freeAt[0] ?? Number.NEGATIVE_INFINITY, this.#closedUntil);
    // If every slot is in flight, the next answer calls this method. A time that has passed since #hasRoom read the
    // clock still needs the timer: nothing else would call this method again.
    if (nextAt === Number.NEGATIVE_INFINITY) return;
    this.#cancelTimer = this.#clock.after(Math.max(0, Math.ceil(nextAt - this.#clock.now())), () => this.#serve());
  }
}
