/** Time as a limiter or a schedule sees it; a test gives one of its own. */
export interface Clock {
  /** Milliseconds that only ever go forward, from any start. */
  now(): number;
  /** Calls once after so many milliseconds. @returns takes the call back */
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
  /** Most requests within any `windowMs`. */
  readonly limit: number;
  readonly windowMs: number;
}

/** The right to make one request. */
export interface Permit {
  /** The request has been answered, or has failed. */
  done(): void;
}

interface Waiting {
  readonly grant: (permit: Permit | undefined) => void;
  readonly stop: () => void;
}

/**
 * Keeps requests to an account within so many per rolling window, for all who share the account: they wait their turn,
 * first come first served.
 *
 * A permit counts from when it is given until `windowMs` after the answer. The other side counted the request at some
 * instant in between, so its window can never hold more than ours does, whatever the network does to the spacing; what
 * that costs is the time of one answer per window.
 */
export class RollingLimiter {
  readonly #clock: Clock;
  readonly windowMs: number;
  readonly #most: number;
  #limit: number;
  #open = 0;
  /** When each answered request stops to count, earliest first. */
  readonly #freeAt: number[] = [];
  readonly #waiting = new Set<Waiting>();
  #closedUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  /** @param most never more than this, whatever is learnt of the account's limit */
  constructor({ limit, windowMs }: RollingLimit, most = Number.POSITIVE_INFINITY, clock: Clock = systemClock) {
    this.#limit = Math.min(limit, most);
    this.#most = most;
    this.windowMs = windowMs;
    this.#clock = clock;
  }

  /**
   * Waits for its turn. Undefined: it was stopped, or its turn did not come in time.
   * @param withinMs longest wait
   */
  async take(signal: AbortSignal, withinMs: number): Promise<Permit | undefined> {
    if (signal.aborted) return undefined;
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#permit();
    return await new Promise((resolve) => {
      const giveUp = (): void => {
        if (!this.#waiting.delete(waiting)) return;
        waiting.grant(undefined);
        this.#serve(); // also takes back the timer that nobody waits for any more
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
   * What an answer says of the account: its limit, and how much of the window is used. More than we have used is used by
   * others, and counts as if it had just been.
   */
  learn({ limit, used }: { readonly limit: number; readonly used?: number }): void {
    if (limit >= 1) this.#limit = Math.min(limit, this.#most);
    if (used !== undefined) {
      const others = Math.min(used, this.#limit) - this.#used();
      const freeAt = this.#clock.now() + this.windowMs;
      for (let slot = 0; slot < others; slot += 1) this.#freeAt.push(freeAt);
    }
    this.#serve();
  }

  /** The account was asked too much all the same: nobody asks for so long. */
  close(forMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.now() + forMs);
    this.#serve();
  }

  /** Ends what `close` began. */
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
    // With every slot in flight there is nothing to wait for but an answer, and that serves. A time that has passed
    // since it was looked at above is waited for all the same: nobody else would come back to it.
    if (nextAt === Number.NEGATIVE_INFINITY) return;
    this.#cancelTimer = this.#clock.after(Math.max(0, Math.ceil(nextAt - this.#clock.now())), () => this.#serve());
  }
}
