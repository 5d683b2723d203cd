/** The two clocks of a process. Tests give their own. */
export interface Clocks {
  /** Unix time in ms; a person, or the network's time, may set it. */
  wallNow(): number;
  /** Milliseconds from any start. It never jumps, and on many machines stands still while they are suspended. */
  monotonicNow(): number;
}

export const systemClocks: Clocks = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };

/**
 * How long ago something was, by whichever clock of the process says more. A suspended machine's monotonic clock does
 * not count the pause, and a wall clock can be set; whoever relies on a lease must not believe only one of them.
 */
export class Stopwatch {
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(private readonly clocks: Clocks = systemClocks) {
    this.#wallMs = clocks.wallNow();
    this.#monotonicMs = clocks.monotonicNow();
  }

  /** A wall clock that was set back counts as well: nothing says how long that took. */
  elapsedMs(): number {
    return Math.max(this.monotonicMs(), Math.abs(this.clocks.wallNow() - this.#wallMs));
  }

  /** By the clock that timers go by. */
  monotonicMs(): number {
    return this.clocks.monotonicNow() - this.#monotonicMs;
  }
}
