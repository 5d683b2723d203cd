import type { Fields, Lane } from '../sink.js';

/** The writes of one item to one record, as the item's object says. */
export interface RecordWrites {
  /** The type and the id of the record. */
  readonly record: string;
  /** Time of the last write of each field by the item, Unix time in ms, by the field's name in lower case. */
  readonly writtenAtMs: ReadonlyMap<string, number>;
}

/** The latest write of a field, and the number of items whose write has this time. */
interface Latest {
  readonly atMs: number;
  readonly writers: number;
}

/**
 * - `ours`: this item wrote the field last.
 * - `other`: another item wrote it later, so the value belongs to that item.
 * - `together`: this item and another one wrote it in one call, and it is not known whose value was written.
 */
export type LastWriter = 'ours' | 'other' | 'together';

/** Time for which the objects of the items are believed. */
const BELIEVED_FOR_MS = 60_000;
/** Maximum difference between the clock of the vendor and ours. */
const CLOCKS_DIFFER_MS = 10_000;

/**
 * Knows the records that several items write, such as two attendees with one e-mail address, or a person at two events.
 * Their fields have the value of the item that wrote them last, which is no difference of the others. Reads the objects
 * of all items, but only when an item seems to differ.
 */
export class SharedRecords {
  #latest: ReadonlyMap<string, ReadonlyMap<string, Latest>> = new Map();
  #known: ReadonlySet<string> = new Set();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /**
   * @param writesIn returns the writes that an item's object contains
   * @param now Unix time in ms
   */
  constructor(
    private readonly writesIn: (object: Fields) => readonly RecordWrites[],
    private readonly now: () => number,
  ) {}

  /**
   * Reads the objects, unless they were read in the last minute and after the given change. Without stored objects, no
   * record is shared.
   * @param changedAtMs time of the latest change of a record that seems to differ, Unix time in ms
   */
  async read(lane: Pick<Lane, 'objects'>, changedAtMs: number): Promise<void> {
    if (lane.objects === undefined) return;
    const isFresh = this.now() - this.#readAtMs < BELIEVED_FOR_MS && changedAtMs < this.#readAtMs - CLOCKS_DIFFER_MS;
    if (isFresh) return;
    this.#reading ??= this.#readAll(() => lane.objects!()).finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  /** Whether an item has this record. */
  isKnown(record: string): boolean {
    return this.#known.has(record);
  }

  /** Returns the number of items whose write of the field is the latest. */
  latestWriters(record: string, field: string): number {
    return this.#latest.get(record)?.get(field.toLowerCase())?.writers ?? 1;
  }

  /** @param atMs time of the item's own last write of the field */
  lastWriter(record: string, field: string, atMs: number): LastWriter {
    const latest = this.#latest.get(record)?.get(field.toLowerCase());
    if (latest === undefined || latest.atMs < atMs) return 'ours';
    if (latest.atMs > atMs) return 'other';
    return latest.writers > 1 ? 'together' : 'ours';
  }

  async #readAll(objects: () => AsyncIterable<Fields>): Promise<void> {
    const startedAtMs = this.now();
    const items = new Map<string, number>();
    for await (const object of objects()) {
      for (const { record } of this.writesIn(object)) items.set(record, (items.get(record) ?? 0) + 1);
    }
    const latest = new Map<string, Map<string, Latest>>();
    if ([...items.values()].some((count) => count > 1)) {
      for await (const object of objects()) {
        for (const { record, writtenAtMs } of this.writesIn(object)) {
          if (items.get(record)! < 2) continue;
          const fields = latest.get(record) ?? new Map<string, Latest>();
          latest.set(record, fields);
          for (const [field, atMs] of writtenAtMs) {
            const before = fields.get(field);
            if (before === undefined || before.atMs < atMs) fields.set(field, { atMs, writers: 1 });
            else if (before.atMs === atMs) fields.set(field, { atMs, writers: before.writers + 1 });
          }
        }
      }
    }
    this.#latest = latest;
    this.#known = new Set(items.keys());
    this.#readAtMs = startedAtMs;
  }
}

/** The writes of an item to a record that other items may write as well. */
export interface SharedWrite {
  /** The type and the id of the record. */
  readonly record: string;
  /** Returns the time of the item's last write of a field, by its name in lower case; undefined if there is none. */
  readonly writtenAtMs: (field: string) => number | undefined;
  /** The fields that the item writes, by name in lower case, and whether they have the item's value. */
  readonly fields: readonly { readonly field: string; readonly isAsWanted: boolean }[];
}

/**
 * Returns the fields of each item whose value belongs to another item with the same record, for a vendor that knows no
 * time of a single value. If several items wrote a field in one call, any of their values is right. If not all of them
 * are known here, their values are not known either, and the field is left out.
 */
export function writesOfOthers(shared: SharedRecords, writes: readonly SharedWrite[]): Set<string>[] {
  const together = new Map<string, { count: number; isAsWanted: boolean }>();
  const writerOf = ({ record, writtenAtMs }: SharedWrite, field: string): LastWriter => {
    const atMs = writtenAtMs(field);
    return atMs === undefined ? 'ours' : shared.lastWriter(record, field, atMs);
  };
  for (const write of writes) {
    for (const { field, isAsWanted } of write.fields) {
      if (writerOf(write, field) !== 'together') continue;
      const key = `${write.record} ${field}`;
      const before = together.get(key) ?? { count: 0, isAsWanted: false };
      together.set(key, { count: before.count + 1, isAsWanted: before.isAsWanted || isAsWanted });
    }
  }
  return writes.map((write) => {
    const others = write.fields.filter(({ field }) => {
      const writer = writerOf(write, field);
      if (writer !== 'together') return writer === 'other';
      const { count, isAsWanted } = together.get(`${write.record} ${field}`)!;
      return isAsWanted || count < shared.latestWriters(write.record, field);
    });
    return new Set(others.map(({ field }) => field));
  });
}
