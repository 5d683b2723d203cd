import { Backlogs } from '../delivering/backlogs.js';
import type { WorkFacts } from './work-facts.js';
import type { StatusSnapshot } from './read-status.js';
import type { QuotaView } from './status-view.js';

/** Longest time for which a result is shared after it was read. */
const longestMs = 1000;
/** A result is shared for this many times as long as it took to read, so that reading takes a tenth of the time at most. */
const timesItsCost = 9;

/** Shares the result of a read among callers at the same time, and for a moment afterwards. */
class SharedRead<Value> {
  #latest: { readonly name: string; readonly value: Promise<Value>; untilMs: number } | undefined;

  /** @param name results under another name are not shared */
  async get(name: string, read: () => Promise<Value>): Promise<Value> {
    const startedMs = performance.now();
    if (this.#latest?.name === name && startedMs < this.#latest.untilMs) return await this.#latest.value;
    const shared = { name, value: read(), untilMs: Infinity };
    this.#latest = shared;
    try {
      const value = await shared.value;
      const endedMs = performance.now();
      shared.untilMs = endedMs + Math.min(longestMs, timesItsCost * (endedMs - startedMs));
      return value;
    } catch (error) {
      if (this.#latest === shared) this.#latest = undefined; // a failure is not shared with later callers
      throw error;
    }
  }

  forget(): void {
    this.#latest = undefined;
  }
}

/**
 * What the readers of the status in one process share: the API, the page, the metrics and the alerts. On a small ledger
 * each of them reads the present state, because a result is shared only for a few milliseconds.
 */
export class StatusMemory {
  readonly backlogs = new Backlogs();
  readonly #facts = new SharedRead<WorkFacts>();
  readonly #quotas = new SharedRead<ReadonlyMap<string, QuotaView>>();
  readonly #snapshots = new WeakMap<WorkFacts, Map<string, Promise<StatusSnapshot>>>();

  /** @param configuration its number; facts depend on it */
  async facts(configuration: number, read: () => Promise<WorkFacts>): Promise<WorkFacts> {
    return await this.#facts.get(String(configuration), read);
  }

  async quotas(
    configuration: number,
    read: () => Promise<ReadonlyMap<string, QuotaView>>,
  ): Promise<ReadonlyMap<string, QuotaView>> {
    return await this.#quotas.get(String(configuration), read);
  }

  /** Returns the snapshot of some facts under this name; computes it only once. */
  async snapshot(facts: WorkFacts, name: string, compute: () => Promise<StatusSnapshot>): Promise<StatusSnapshot> {
    const known = this.#snapshots.get(facts) ?? new Map<string, Promise<StatusSnapshot>>();
    this.#snapshots.set(facts, known);
    const snapshot = known.get(name) ?? compute();
    known.set(name, snapshot);
    return await snapshot;
  }

  /** Call it after this process has changed something that the status shows. */
  forget(): void {
    this.#facts.forget();
    this.#quotas.forget();
  }
}
