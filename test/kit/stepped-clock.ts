import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../sinks/network/rolling-limiter.js';

interface Timer {
  readonly atMs: number;
  readonly call: () => void;
}

/** Turns of the event loop in which the work after an answer starts the next request or timer, with some to spare. */
const idleTurns = 10;

/**
 * A clock that stops while an HTTP request is in progress, and otherwise jumps to the next timer. A step that
 * takes longer on a busy machine therefore changes no time that a sink or a stand-in reads.
 */
export class SteppedClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<Timer>();
  #isRunning = false;
  readonly #requests = new Set<object>();
  #onAnswered = (): void => undefined;

  constructor(private readonly startsAtMs = Date.UTC(2026, 10, 21, 9)) {
    subscribe('undici:request:create', this.#start);
    subscribe('undici:request:trailers', this.#end);
    subscribe('undici:request:error', this.#end);
  }

  now(): number {
    return this.#nowMs;
  }

  /** Unix time in ms. */
  wallNow = (): number => this.startsAtMs + this.#nowMs;

  after(delayMs: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, call };
    this.#timers.add(timer);
    if (!this.#isRunning) this.#run().catch(() => undefined); // nothing in it throws
    return () => void this.#timers.delete(timer);
  }

  async pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.after(ms, resolve));
  }

  /** Must be called at the end of the test. */
  close(): void {
    unsubscribe('undici:request:create', this.#start);
    unsubscribe('undici:request:trailers', this.#end);
    unsubscribe('undici:request:error', this.#end);
  }

  readonly #start = (message: unknown): void => void this.#requests.add((message as { request: object }).request);

  readonly #end = (message: unknown): void => {
    this.#requests.delete((message as { request: object }).request);
    if (this.#requests.size === 0) this.#onAnswered();
  };

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#timers.size > 0) {
      await this.#untilIdle();
      const [next] = [...this.#timers].sort((one, other) => one.atMs - other.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.call();
    }
    this.#isRunning = false;
  }

  async #untilIdle(): Promise<void> {
    for (let turns = 0; turns < idleTurns; turns += 1) {
      await nextTurn();
      if (this.#requests.size === 0) continue;
      await new Promise<void>((resolve) => {
        this.#onAnswered = resolve;
      });
      turns = 0;
    }
  }
}
