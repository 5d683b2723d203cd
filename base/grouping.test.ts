import { groupBy, chunksOf } from './grouping.js';

describe('groupBy', () => {
  it('returns the groups in the order of their first values, and the values of a group in their order', () => {
    const groups = groupBy(['pear', 'fig', 'plum', 'kiwi', 'nut'], ({ length }) => length);

    expect([...groups]).toEqual([
      [4, ['pear', 'plum', 'kiwi']],
      [3, ['fig', 'nut']],
    ]);
  });

  it('accepts any iterable', () => {
    expect(groupBy(new Set([1, 2, 3]).values(), (value) => value % 2)).toEqual(
      new Map([
        [1, [1, 3]],
        [0, [2]],
      ]),
    );
  });
});

describe('chunksOf', () => {
  it('splits values in their order, with the rest in the last chunk', () => {
    expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('returns no chunk for no values, and no empty chunk after a full one', () => {
    expect(chunksOf([], 2)).toEqual([]);
    expect(chunksOf([1, 2], 2)).toEqual([[1, 2]]);
  });
});
