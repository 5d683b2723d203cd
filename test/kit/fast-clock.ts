import type { Clock } from '../../sinks/network/rolling-limiter.js';

/**
 * A clock that runs faster than the wall clock. Limits, waits and the times of a stand-in that use it keep their
 * proportions.
 */
export class FastClock implements Clock {
  readonly #startedAt = performance.now();

  /** @param speed seconds of this clock per second of the wall clock */
  constructor(
    private readonly speed: number,
    private readonly startsAtMs = Date.UTC(2026, 10, 21, 9),
  ) {}

  now(): number {
    return (performance.now() - this.#startedAt) * this.speed;
  }

  /** Unix time in whole ms. */
  wallNow = (): number => Math.floor(this.startsAtMs + this.now());

  after(delayMs: number, call: () => void): () => void {
    const timer = setTimeout(call, delayMs / this.speed);
    return () => clearTimeout(timer);
  }

  async pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.after(ms, resolve));
  }
}
