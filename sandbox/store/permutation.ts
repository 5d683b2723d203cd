import { draw } from '../world/random.js';

/** A reversible shuffle of 0 .. size-1 that needs no memory per element. */
export interface Permutation {
  /** Where an element stands after the shuffle. */
  forward(index: number): number;
  /** Which element stands at a place. */
  backward(place: number): number;
}

const ROUNDS = 4;

/**
 * A Feistel network over the smallest even number of bits that holds `size`; results outside the range are put
 * through again ("cycle walking"), which keeps it a permutation of exactly 0 .. size-1.
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
