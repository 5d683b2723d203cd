import { type Progress, rowsPerSecond, secondsLeft, withProgress } from './pace.js';

describe('the pace of an import', () => {
  it.each<[string, readonly Progress[], number | null]>([
    ['is not known from nothing', [], null],
    ['is not known from one look', [{ atMs: 0, done: 5 }], null],
    [
      'is not known from two looks at once',
      [
        { atMs: 0, done: 5 },
        { atMs: 999, done: 9 },
      ],
      null,
    ],
    [
      'is rows by seconds',
      [
        { atMs: 0, done: 100 },
        { atMs: 2000, done: 150 },
      ],
      25,
    ],
    [
      'is nothing while nothing moves',
      [
        { atMs: 0, done: 100 },
        { atMs: 5000, done: 100 },
      ],
      0,
    ],
  ])('%s', (_, seen, perSecond) => {
    expect(rowsPerSecond(seen)).toBe(perSecond);
  });

  it('forgets what is longer ago than half a minute', () => {
    const seen = withProgress(
      [
        { atMs: 0, done: 0 },
        { atMs: 20_000, done: 10 },
      ],
      { atMs: 40_000, done: 30 },
    );
    expect(seen.map(({ atMs }) => atMs)).toEqual([20_000, 40_000]);
  });

  it('tells the time that is left, unless nothing moves', () => {
    expect([secondsLeft(50, 25), secondsLeft(50, 0), secondsLeft(50, null)]).toEqual([2, null, null]);
  });
});
