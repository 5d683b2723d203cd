import { draw } from '../world/random.js';

/** Distance between generated ids, so that a test can insert late rows between them. */
export const ID_STRIDE = 10;

/** By id, or shuffled by a seed. */
export type Arrangement = 'byId' | 'shuffled';

interface IdRange {
  /** Id of the first generated item of the whole list. */
  readonly firstId: number;
  /** Index in the list of this range's first generated item. */
  readonly offset: number;
  /** Generated items in this range, before any removal. */
  readonly count: number;
}

/**
 * The order of one list (or of one session's part of it) as ids, without holding the generated ones.
 *
 * Every id has a key. Generated items have the integer keys 0 .. count-1 ("slots"); an id that was added later has a
 * key between or after them. Removed slots and added ids are two sorted arrays, so that a binary search finds the id at
 * a rank and the number of ids before an id. A removed id keeps its key, so that a cursor to a removed item stays
 * valid.
 */
export class IdOrder {
  readonly #range: IdRange;
  /** Null if the arrangement is by id. */
  readonly #permutation: Permutation | null;
  readonly #seed: number;
  readonly #removedSlots: number[] = [];
  readonly #added: { key: number; id: number }[] = [];

  constructor(range: IdRange, arrangement: Arrangement, seed: number) {
    this.#range = range;
    this.#seed = seed;
    this.#permutation = arrangement === 'shuffled' ? createPermutation(Math.max(range.count, 1), seed) : null;
  }

  get size(): number {
    return this.#range.count - this.#removedSlots.length + this.#added.length;
  }

  /** Returns the id at a rank, which starts from 0; undefined outside 0 .. size-1. */
  idAt(rank: number): number | undefined {
    if (rank < 0 || rank >= this.size) return undefined;
    // The first added id with at least `rank` items before it. All added ids before it are also before the rank.
    const addedBefore = firstIndex(this.#added.length, (at) => this.#before(this.#added[at]?.key ?? 0) >= rank);
    const candidate = this.#added[addedBefore];
    if (candidate !== undefined && this.#before(candidate.key) === rank) return candidate.id;
    return this.#idOfSlot(this.#slotAt(rank - addedBefore));
  }

  /** Returns the number of items before the position of an id, which need not be in the list. */
  rankOf(id: number): number {
    return this.#before(this.#keyOf(id));
  }

  has(id: number): boolean {
    return this.idAt(this.rankOf(id)) === id;
  }

  /** Adds an id to the order: a generated id in its slot, any other id at its key. No effect if it is present. */
  put(id: number): void {
    if (this.has(id)) return;
    const slot = this.#slotOf(id);
    if (slot !== null) {
      this.#removedSlots.splice(lowerBound(this.#removedSlots, slot), 1);
      return;
    }
    const key = this.#keyOf(id);
    const at = firstIndex(this.#added.length, (index) => (this.#added[index]?.key ?? 0) >= key);
    this.#added.splice(at, 0, { key, id });
  }

  /** Removes an id from the order. No effect if it is absent. */
  remove(id: number): void {
    if (!this.has(id)) return;
    const slot = this.#slotOf(id);
    if (slot !== null) {
      this.#removedSlots.splice(lowerBound(this.#removedSlots, slot), 0, slot);
      return;
    }
    const key = this.#keyOf(id);
    this.#added.splice(
      firstIndex(this.#added.length, (index) => (this.#added[index]?.key ?? 0) >= key),
      1,
    );
  }

  /** Items with a smaller key. */
  #before(key: number): number {
    const slots = Math.min(Math.max(Math.ceil(key), 0), this.#range.count);
    const added = firstIndex(this.#added.length, (index) => (this.#added[index]?.key ?? 0) >= key);
    return slots - lowerBound(this.#removedSlots, slots) + added;
  }

  /** The slot with `rank` remaining slots before it. */
  #slotAt(rank: number): number {
    const removedBefore = firstIndex(
      this.#removedSlots.length,
      (index) => (this.#removedSlots[index] ?? 0) - index > rank,
    );
    return rank + removedBefore;
  }

  #idOfSlot(slot: number): number {
    const index = this.#permutation === null ? slot : this.#permutation.backward(slot);
    return this.#range.firstId + (this.#range.offset + index) * ID_STRIDE;
  }

  #slotOf(id: number): number | null {
    const index = (id - this.#range.firstId) / ID_STRIDE - this.#range.offset;
    if (!Number.isInteger(index) || index < 0 || index >= this.#range.count) return null;
    return this.#permutation === null ? index : this.#permutation.forward(index);
  }

  #keyOf(id: number): number {
    const slot = this.#slotOf(id);
    if (slot !== null) return slot;
    if (this.#permutation === null) return (id - this.#range.firstId) / ID_STRIDE - this.#range.offset;
    // 52 random bits, so that two added ids do not share a key. A cursor by key could not distinguish them.
    const random = draw(this.#seed, 1, id) * 2 ** 20 + (draw(this.#seed, 2, id) >>> 12);
    return ((random + 0.5) / 2 ** 52) * Math.max(this.#range.count, 1);
  }
}

/** Finds the first index of 0 .. length-1 at which a monotonic condition is true; `length` if there is none. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function lowerBound(sorted: readonly number[], value: number): number {
  return firstIndex(sorted.length, (index) => (sorted[index] ?? 0) >= value);
}

/** A reversible shuffle of 0 .. size-1 that needs no memory per element. */
interface Permutation {
  /** Index of an element after the shuffle. */
  forward(index: number): number;
  /** Element at an index after the shuffle. */
  backward(place: number): number;
}

const ROUNDS = 4;

/**
 * Creates a Feistel network over the smallest even number of bits that can represent `size`. Results outside of the
 * range are encrypted again ("cycle walking"), so that it is a permutation of exactly 0 .. size-1.
 */
export function createPermutation(size: number, seed: number): Permutation {
  let halfBits = 1;
  while (2 ** (2 * halfBits) < size) halfBits += 1;
  const mask = 2 ** halfBits - 1;
  const keys = Array.from({ length: ROUNDS }, (_, round) => draw(seed, 0xfe15, round));

  const once = (value: number, rounds: readonly number[], reverse: boolean): number => {
    let left = Math.floor(value / (mask + 1));
    let right = value & mask;
    for (const key of rounds) {
      const source = reverse ? left : right;
      const mixed = draw(key, 1, source) & mask;
      if (reverse) [left, right] = [right ^ mixed, left];
      else [left, right] = [right, left ^ mixed];
    }
    return left * (mask + 1) + right;
  };
  const walk = (value: number, rounds: readonly number[], reverse: boolean): number => {
    let result = once(value, rounds, reverse);
    while (result >= size) result = once(result, rounds, reverse);
    return result;
  };

  const backwards = keys.toReversed();
  return {
    forward: (index) => walk(index, keys, false),
    backward: (place) => walk(place, backwards, true),
  };
}
