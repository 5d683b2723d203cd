import { type Fields, fieldsOf } from '../sink.js';

/** When something that others wrote as well was written by us, and what it tells of. */
interface Written {
  readonly happenedAtMs: number;
  /** By HubSpot's clock, Unix time in ms. */
  readonly writtenAtMs: number;
}

/** Most values that are remembered: about 100 bytes each. */
const most = 200_000;

/**
 * What each `if-newer` value that this sink wrote tells of: remembered by the process, and at its start recalled from what
 * the sink has made of items. HubSpot knows when a value was written; for what was
 * written while history is caught up, that says nothing about which event is newer.
 */
export class EventTimes {
  readonly #written = new Map<string, Written>();
  #recalled: Promise<void> | undefined;

  remember(recordId: string, property: string, written: Written): void {
    const key = keyOf(recordId, property);
    this.#written.delete(key); // to the end of the order in which the oldest are forgotten
    this.#written.set(key, written);
    if (this.#written.size > most) this.#written.delete(this.#written.keys().next().value!);
  }

  /**
   * Takes up what was written before this process began, once: later calls wait for the first. What another process writes
   * from then on is not known here.
   * @param made what the sink has made of items, on all its lanes
   */
  async recall(made: () => AsyncIterable<Fields>): Promise<void> {
    this.#recalled ??= this.#recallAll(made()).catch((error: unknown) => {
      this.#recalled = undefined;
      throw error;
    });
    await this.#recalled;
  }

  async #recallAll(made: AsyncIterable<Fields>): Promise<void> {
    for await (const object of made) {
      for (const { id, writtenAtMs, tellsOfMs } of Object.values(object).map(fieldsOf)) {
        for (const [property, happenedAtMs] of Object.entries(fieldsOf(tellsOfMs))) {
          const atMs = fieldsOf(writtenAtMs)[property];
          if (typeof id !== 'string' || typeof happenedAtMs !== 'number' || typeof atMs !== 'number') continue;
          const known = this.#written.get(keyOf(id, property));
          if (known === undefined || known.writtenAtMs < atMs) {
            this.remember(id, property, { happenedAtMs, writtenAtMs: atMs });
          }
        }
      }
    }
  }

  /** When what stands there happened, if it is ours. @param changedAtMs when it was last changed, by HubSpot's clock */
  of(recordId: string, property: string, changedAtMs: number): number | undefined {
    const written = this.#written.get(keyOf(recordId, property));
    return written !== undefined && changedAtMs <= written.writtenAtMs + clockToleranceMs
      ? written.happenedAtMs
      : undefined;
  }
}

/** Between the instants that HubSpot gives to a record's update and to the change of its property. */
export const clockToleranceMs = 2000;

function keyOf(recordId: string, property: string): string {
  return `${recordId} ${property}`;
}
