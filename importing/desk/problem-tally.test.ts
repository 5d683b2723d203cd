import { ProblemTally } from './problem-tally.js';

describe('the problems of a file', () => {
  it('are counted by kind and column, the most frequent first', () => {
    const tally = new ProblemTally();
    for (const [row, code] of [
      [2, 'a'],
      [3, 'b'],
      [4, 'b'],
    ] as const)
      tally.add({ row, column: 'X', code, message: 'm' });
    expect(tally.counts).toEqual([
      { code: 'b', column: 'X', rows: 2, firstRows: [3, 4] },
      { code: 'a', column: 'X', rows: 1, firstRows: [2] },
    ]);
    expect([tally.kept.length, tally.leftOut]).toEqual([3, 0]);
  });

  it('are kept individually up to 100,000, and only counted beyond', () => {
    const tally = new ProblemTally();
    for (let row = 2; row < 100_012; row += 1) tally.add({ row, column: null, code: 'a', message: 'm' });
    expect([tally.kept.length, tally.leftOut, tally.counts[0]!.rows]).toEqual([100_000, 10, 100_010]);
  });
});
