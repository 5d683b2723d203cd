/** The two clocks of a process. Tests pass their own. */
export interface Clocks {
  /** Unix time in ms. A person or NTP may set it. */
  wallNow(): number;
  /** Milliseconds since an arbitrary start. Never jumps, but on many machines stops while the machine is suspended. */
  monotonicNow(): number;
}

export const systemClocks: Clocks = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };

/**
 * Measures elapsed time with both clocks and returns the longer time. The holder of a lease must not rely on one clock:
 * the monotonic clock may stop while the machine is suspended, and the wall clock can be set.
 */
export class Stopwatch {
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(private readonly clocks: Clocks = systemClocks) {
    this.#wallMs = clocks.wallNow();
    this.#monotonicMs = clocks.monotonicNow();
  }

  /**
   * Returns the elapsed time in ms. If the wall clock was set back, the difference counts as elapsed time, because the
   * real duration is unknown.
   */
  elapsedMs(): number {
    return Math.max(this.monotonicMs(), Math.abs(this.clocks.wallNow() - this.#wallMs));
  }

  /** Returns the elapsed time in ms by the monotonic clock, which timers use as well. */
  monotonicMs(): number {
    return this.clocks.monotonicNow() - this.#monotonicMs;
  }
}
