import { chunksOf } from './chunks-of.js';

describe('chunksOf', () => {
  it('splits values in their order, with the rest in the last chunk', () => {
    expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('returns no chunk for no values, and no empty chunk after a full one', () => {
    expect(chunksOf([], 2)).toEqual([]);
    expect(chunksOf([1, 2], 2)).toEqual([[1, 2]]);
  });
});
