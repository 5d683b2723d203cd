/** The clock of a limiter or schedule; tests provide their own. */
export interface Clock {
  /** Milliseconds since any time. The value never goes back. */
  now(): number;
  /**
   * Calls a function once after the delay.
   * @returns a function that cancels the call
   */
  after(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(), // a monotonic clock, because a change of the wall clock must not affect a limit
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Detail of a wait for a limit that the configuration sets. */
export const ownLimitReached = 'the daily request limit of this sink (limits.perDay) is reached';

export interface RollingLimit {
  /** Maximum number of requests in any period of length `windowMs`. */
  readonly limit: number;
  readonly windowMs: number;
}

/** The right to make one request. */
export interface Permit {
  /** Must be called when the request was answered or has failed. */
  done(): void;
}

interface Waiting {
  readonly grant: (permit: Permit | undefined) => void;
  readonly stop: () => void;
}

/**
 * Limits the requests to an account in a rolling window, for all callers. Callers receive permits in the order in which
 * they asked.
 *
 * A permit counts from the time at which it is granted until `windowMs` after the answer. The vendor counts the request
 * at some time between request and answer, so the vendor's window never contains more requests than ours, even if the
 * network delays some requests more than others. The disadvantage is that each permit stays in use longer than the
 * vendor requires, at most by the duration of its request.
 */
export class RollingLimiter {
  readonly #clock: Clock;
  readonly windowMs: number;
  readonly #max: number;
  #limit: number;
  #open = 0;
  /** The times at which the permits of answered requests become free, earliest first. */
  readonly #freeAt: number[] = [];
  readonly #waiting = new Set<Waiting>();
  #closedUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  /** @param max maximum limit, even if the account reports a higher one */
  constructor({ limit, windowMs }: RollingLimit, max = Number.POSITIVE_INFINITY, clock: Clock = systemClock) {
    this.#limit = Math.min(limit, max);
    this.#max = max;
    this.windowMs = windowMs;
    this.#clock = clock;
  }

  /**
   * Waits for a permit. Returns undefined if the signal was aborted or no permit was free in time.
   * @param withinMs maximum wait
   */
  async take(signal: AbortSignal, withinMs: number): Promise<Permit | undefined> {
    if (signal.aborted) return undefined;
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#permit();
    return await new Promise((resolve) => {
      const giveUp = (): void => {
        if (!this.#waiting.delete(waiting)) return;
        waiting.grant(undefined);
        this.#serve(); // also cancels the timer if it is no longer needed
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
   * Applies what an answer reports about the account: the limit, and the number of requests in the present window. If
   * that number is higher than ours, other clients made requests, which count as if they had just been made.
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

  /** Grants no permits for `forMs`. Use it if the vendor throttles the account despite the limit. */
  close(forMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.now() + forMs);
    this.#serve();
  }

  /** Milliseconds for which `close` still grants no permits; 0: it is open. */
  get closedForMs(): number {
    return Math.max(0, this.#closedUntil - this.#clock.now());
  }

  /** Minimum number of milliseconds until a permit is free; 0: one is free now. */
  get usedUpForMs(): number {
    if (this.#used() < this.#limit) return 0;
    // A permit of a request in progress counts until `windowMs` after its answer.
    return (this.#freeAt[0] ?? this.#clock.now() + this.windowMs) - this.#clock.now();
  }

  /** Ends the effect of `close`. */
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
    // If all permits belong to requests in progress, the next answer calls this method. Otherwise a timer must call it,
    // because nothing else does. That is also necessary if `nextAt` has passed since #hasRoom read the clock.
    if (nextAt === Number.NEGATIVE_INFINITY) return;
    this.#cancelTimer = this.#clock.after(Math.max(0, Math.ceil(nextAt - this.#clock.now())), () => this.#serve());
  }
}
