import { z } from 'zod';
import type { Lane } from '../sink.js';
import { digest } from './operation.js';

/**
 * Time after which a creation without an answer has happened or never will. Salesforce ends a request after 10 minutes.
 * One `send` and its last request add less than 2 minutes. Source: Salesforce, App Limits Cheatsheet, "API Timeout
 * Limits".
 */
const OPEN_FOR_MS = 12 * 60 * 1000;

const MEMORY_KEY = 'open creations';
/** The time of each open creation, Unix time in ms, by the digest of its key. */
const openSchema = z.record(z.string(), z.number());

/**
 * Remembers creations that a repeat would duplicate, because no external id identifies their records. Salesforce may
 * still carry out a creation whose answer was lost, and until then, no query finds the record. The lane's memory
 * therefore holds each creation from before its call until its answer, also if the process dies in between.
 */
export class OpenCreations {
  #open: Readonly<Record<string, number>>;
  /** Whether the lane's memory holds creations, open or not. */
  #isStored: boolean;

  constructor(
    private readonly lane: Pick<Lane, 'memory' | 'remember'>,
    private readonly now: () => number,
  ) {
    const found = openSchema.safeParse(lane.memory[MEMORY_KEY]);
    const stored = Object.entries(found.success ? found.data : {});
    this.#isStored = stored.length > 0;
    const nowMs = now();
    // A time in the future is from a clock that was set back, and would hold the creation for longer than `OPEN_FOR_MS`.
    const notLater = stored.map(([name, atMs]) => [name, Math.min(atMs, nowMs)] as const);
    this.#open = Object.fromEntries(notLater.filter(([, atMs]) => atMs + OPEN_FOR_MS > nowMs));
  }

  /** Returns for how many milliseconds an earlier creation may still happen; undefined if there is none. */
  openForMs(type: string, key: string): number | undefined {
    const forMs = (this.#open[creationName(type, key)] ?? Number.NEGATIVE_INFINITY) + OPEN_FOR_MS - this.now();
    return forMs > 0 ? forMs : undefined;
  }

  /** Stores creations before their call. @throws if another process took over the lane */
  async begin(type: string, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const nowMs = this.now();
    this.#open = { ...this.#open, ...Object.fromEntries(keys.map((key) => [creationName(type, key), nowMs])) };
    this.#isStored = true;
    await this.lane.remember({ [MEMORY_KEY]: this.#open });
  }

  /** Ends creations that Salesforce answered, or whose record exists. */
  end(type: string, keys: readonly string[]): void {
    const ended = new Set(keys.map((key) => creationName(type, key)));
    this.#open = Object.fromEntries(Object.entries(this.#open).filter(([name]) => !ended.has(name)));
  }

  /** The change to the lane's memory, which the engine commits with the outcomes. */
  get learnt(): Readonly<Record<string, unknown>> {
    return this.#isStored ? { [MEMORY_KEY]: this.#open } : {};
  }
}

function creationName(type: string, key: string): string {
  return digest([type, key.toLowerCase()]);
}
