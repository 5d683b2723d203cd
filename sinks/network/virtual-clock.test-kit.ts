import type { Clock } from './rolling-limiter.js';

/** A clock that tests advance. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  readonly #calls = new Set<{ readonly atMs: number; readonly call: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const entry = { atMs: this.#nowMs + delayMs, call };
    this.#calls.add(entry);
    return () => void this.#calls.delete(entry);
  }

  /** Number of calls that are still pending. */
  get pending(): number {
    return this.#calls.size;
  }

  /** Advances by this number of milliseconds, and runs every call that becomes due, in order. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settle();
    for (;;) {
      const due = [...this.#calls].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#calls.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.call();
      await settle();
    }
    this.#nowMs = untilMs;
  }
}

/** Lets the callbacks of all resolved promises run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
