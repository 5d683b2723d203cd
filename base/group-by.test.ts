import { groupBy } from './group-by.js';

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
