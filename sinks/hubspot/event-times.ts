import { fieldsOf, type Fields } from '../sink.js';

/** The times of one write by this sink: that of the event, and that of the write. */
interface Written {
  readonly happenedAtMs: number;
  /** By HubSpot's clock, Unix time in ms. */
  readonly writtenAtMs: number;
}

/** Maximum number of values whose times are kept in memory, with about 100 bytes each. */
const most = 200_000;

/**
 * Stores the event times of the `if-newer` values that this sink wrote. They are kept in memory, and read from the
 * items' objects when a process starts. HubSpot knows only when a value was written. During an import of past events,
 * the time of the write does not show which of two values belongs to the newer event.
 */
export class EventTimes {
  readonly #written = new Map<string, Written>();
  #recalled: Promise<void> | undefined;

  remember(recordId: string, property: string, written: Written): void {
    const key = keyOf(recordId, property);
    this.#written.delete(key); // moves the key to the end, because the first key is removed if there are too many
    this.#written.set(key, written);
    if (this.#written.size > most) this.#written.delete(this.#written.keys().next().value!);
  }

  /**
   * Reads the times of values that were written before this process started. Reads them only once; later calls wait for
   * the first. Does not know writes that other processes make later.
   * @param made returns the items' objects from all lanes of the sink
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

  /**
   * Returns the event time of a property's present value; undefined if the last change was not a write by this sink.
   * @param changedAtMs time of the property's last change, by HubSpot's clock
   */
  of(recordId: string, property: string, changedAtMs: number): number | undefined {
    const written = this.#written.get(keyOf(recordId, property));
    return written !== undefined && changedAtMs <= written.writtenAtMs + clockToleranceMs
      ? written.happenedAtMs
      : undefined;
  }
}

/**
 * Maximum difference between the two times that HubSpot reports for one write: that of the record's update, and that of
 * the property's change.
 */
export const clockToleranceMs = 2000;

function keyOf(recordId: string, property: string): string {
  return `${recordId} ${property}`;
}
