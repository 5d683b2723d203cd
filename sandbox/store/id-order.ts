import { draw } from '../world/random.js';

/** Distance between generated ids, so that a test can insert late rows between them. */
export const ID_STRIDE = 10;

/** By id, or shuffled by a seed. */
export type Arrangement = 'byId' | 'shuffled';

/**
 * The order of one list, or of one session's part of it. Every id has a fixed key, so an id that is removed and added
 * again returns to its place, and a cursor to a removed item stays valid.
 */
export class IdOrder {
  /** Sorted by key. */
  readonly #ids: number[];
  readonly #keyOf: (id: number) => number;

  /** @param generated the ids of the generated items, ascending */
  constructor(generated: readonly number[], arrangement: Arrangement, seed: number) {
    const isById = arrangement === 'byId';
    // Two draws, because one draw can give two ids the same key, and a cursor could not distinguish these.
    this.#keyOf = isById ? (id) => id : (id) => draw(seed, 1, id) + draw(seed, 2, id) / 2 ** 32;
    this.#ids = isById ? [...generated] : sortedBy(this.#keyOf, generated);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Returns the id at a rank, which starts from 0; undefined outside 0 .. size-1. */
  idAt(rank: number): number | undefined {
    return this.#ids[rank];
  }

  /** Returns the number of items before the position of an id, which need not be in the list. */
  rankOf(id: number): number {
    const key = this.#keyOf(id);
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keyOf(this.#ids[middle]!) >= key) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  has(id: number): boolean {
    return this.#ids[this.rankOf(id)] === id;
  }

  /** Adds an id to the order. No effect if it is present. */
  put(id: number): void {
    if (!this.has(id)) this.#ids.splice(this.rankOf(id), 0, id);
  }

  /** Removes an id from the order. No effect if it is absent. */
  remove(id: number): void {
    if (this.has(id)) this.#ids.splice(this.rankOf(id), 1);
  }
}

/** Computes each key once, because a sort of a million ids compares them twenty million times. */
function sortedBy(keyOf: (id: number) => number, ids: readonly number[]): number[] {
  const keyed = ids.map((id) => ({ id, key: keyOf(id) }));
  return keyed.toSorted((one, other) => one.key - other.key).map(({ id }) => id);
}
