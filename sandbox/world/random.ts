/**
 * Stateless randomness: a number is a function of a seed and its use, so that item 734,218 can be generated without the
 * ones before it. A conference of a million attendees therefore needs little memory. The mixer is the
 * finalizer of MurmurHash3, which suffices for names and dates; nothing here is secret.
 */
const GOLDEN = 0x9e3779b1;

function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns an unsigned 32-bit number that depends on every argument. `index` may reach 2^32. */
export function draw(seed: number, purpose: number, index = 0): number {
  return mix(mix(mix(seed + GOLDEN) ^ Math.imul(purpose + 1, GOLDEN)) + Math.imul(index, 0x27d4eb2f));
}

/** Maps a drawn number to 0 .. bound-1. */
export function below(drawn: number, bound: number): number {
  return Math.floor((drawn / 2 ** 32) * bound);
}

/** Maps a drawn number to 0 (inclusive) .. 1 (exclusive). */
export function fraction(drawn: number): number {
  return drawn / 2 ** 32;
}

/** Maps a drawn number to an element of a non-empty pool. */
export function pick<T>(pool: readonly T[], drawn: number): T {
  const chosen = pool[below(drawn, pool.length)];
  if (chosen === undefined) throw new RangeError('pick was given an empty pool; give it at least one element');
  return chosen;
}

/** Returns the seed of one part of the world, unrelated to the seeds of other parts. */
export function childSeed(seed: number, part: number): number {
  return draw(seed, 0x5eed, part);
}
