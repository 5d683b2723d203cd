import { messageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';

/** Sends the names of wakes to the other processes of the ledger. */
export type SendWakes = (names: readonly string[]) => Promise<void>;

/** The name under which all stays of readers listen: their next beat is due. */
export const readersWake = 'readers';

/** The name under which a sink's stay listens: there may be something to deliver. */
export function sinkWake(sink: string): string {
  return `sink ${sink}`;
}

/**
 * Wakes what waits in an activity that stays: in this process directly, in other processes with one notification for all
 * wakes of a moment. A lost wake delays work until the next tick of its stay, at most 5 s.
 */
export class Wakes {
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #unsent = new Set<string>();
  #sending: Promise<void> | undefined;

  /** @param send null: no other process uses the ledger */
  constructor(
    private readonly send: SendWakes | null,
    private readonly log: Pick<Log, 'warn'>,
  ) {}

  /** Calls `listener` at each wake of this name. @returns a function that ends it */
  listen(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
    };
  }

  /** Wakes what listens under this name in one process, preferably in this one. */
  wake(name: string): void {
    if (!this.heard(name)) this.#pass(name);
  }

  /** Wakes everything that listens under this name, in all processes. */
  wakeAll(name: string): void {
    this.heard(name);
    this.#pass(name);
  }

  /** Wakes what listens in this process. @returns false if nothing does */
  heard(name: string): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])];
    for (const listener of listeners) listener();
    return listeners.length > 0;
  }

  /** Wakes everything in this process, because wakes of other processes may have been lost. */
  missed(): void {
    for (const name of this.#listeners.keys()) this.heard(name);
  }

  /** Waits until the wakes so far have been sent. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  #pass(name: string): void {
    if (this.send === null) return;
    this.#unsent.add(name);
    this.#sending ??= this.#sendAll(this.send).finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(send: SendWakes): Promise<void> {
    while (this.#unsent.size > 0) {
      await new Promise(setImmediate); // collects the wakes of this moment
      const names = [...this.#unsent];
      this.#unsent.clear();
      await send(names).catch((error: unknown) =>
        this.log.warn({ error: messageOf(error) }, 'other processes could not be woken; they notice within seconds'),
      );
    }
  }
}
