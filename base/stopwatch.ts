/** The two clocks of a process. Tests pass their own. */
export interface Clocks {
  /** Unix time in ms. A person or NTP may set it. */
  wallNow(): number;
  /** Milliseconds from an arbitrary start. It never jumps; on many machines it does not advance during suspension. */
  monotonicNow(): number;
}

export const systemClocks: Clocks = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };

/**
 * Measures elapsed time by the clock that shows more of it. A monotonic clock may not count a suspension, and a wall
 * clock can be set, so the holder of a lease must not trust only one of them.
 */
export class Stopwatch {
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(private readonly clocks: Clocks = systemClocks) {
    this.#wallMs = clocks.wallNow();
    this.#monotonicMs = clocks.monotonicNow();
  }

  /** Counts a wall clock that was set back as elapsed time, because the real duration is unknown. */
  elapsedMs(): number {
    return Math.max(this.monotonicMs(), Math.abs(this.clocks.wallNow() - this.#wallMs));
  }

  /** Elapsed time by the clock that timers use. */
  monotonicMs(): number {
    return this.clocks.monotonicNow() - this.#monotonicMs;
  }
}
