import { createPermutation } from './permutation.js';

describe('a permutation', () => {
  it.each([1, 2, 3, 17, 64, 1000])('takes each of %i places once and leads back from each', (size) => {
    const permutation = createPermutation(size, 7);
    const places = Array.from({ length: size }, (_, index) => permutation.forward(index));

    expect(new Set(places).size).toBe(size);
    expect(Math.max(...places)).toBe(size - 1);
    expect(places.map((place) => permutation.backward(place))).toEqual(places.map((_, index) => index));
  });

  it('differs from seed to seed', () => {
    const order = (seed: number): number[] =>
      Array.from({ length: 50 }, (_, index) => createPermutation(50, seed).forward(index));
    expect(order(1)).not.toEqual(order(2));
    expect(order(1)).not.toEqual(order(1).toSorted((a, b) => a - b));
  });
});
