import { rowOutcomes } from '../importing/row-states.js';
import {
  needsAPerson,
  outcomeWords,
  rowsDone,
  type Progress,
  rowsPerSecond,
  secondsLeft,
  withProgress,
} from './import-state.js';

const none = Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])) as Record<
  (typeof rowOutcomes)[number],
  number
>;

describe('the state of an import', () => {
  it('counts every row with a final outcome as done', () => {
    expect(rowsDone({ rows: 10, counts: { ...none, created: 4, rejected: 1, waiting: 5 } })).toBe(5);
  });

  it('counts only rows whose registrant does not match the file as rows to check', () => {
    const counts = {
      ...none,
      created: 90,
      confirmed: 1,
      existing: 1,
      conflict: 1,
      rejected: 2,
      invalid: 3,
      unknown: 4,
    };
    expect(needsAPerson(counts)).toBe(10);
  });

  it('has a remedy for exactly those outcomes', () => {
    const withTodo = rowOutcomes.filter((outcome) => outcomeWords[outcome].todo !== null);
    expect(withTodo).toEqual(rowOutcomes.filter((outcome) => needsAPerson({ ...none, [outcome]: 1 }) === 1));
  });
});

describe('the rate of an import', () => {
  it.each<[string, readonly Progress[], number | null]>([
    ['is unknown without a measurement', [], null],
    ['is unknown after one measurement', [{ atMs: 0, done: 5 }], null],
    [
      'is unknown after two measurements within a second',
      [
        { atMs: 0, done: 5 },
        { atMs: 999, done: 9 },
      ],
      null,
    ],
    [
      'is rows per second',
      [
        { atMs: 0, done: 100 },
        { atMs: 2000, done: 150 },
      ],
      25,
    ],
    [
      'is 0 while no row is settled',
      [
        { atMs: 0, done: 100 },
        { atMs: 5000, done: 100 },
      ],
      0,
    ],
  ])('%s', (_, seen, perSecond) => {
    expect(rowsPerSecond(seen)).toBe(perSecond);
  });

  it('drops measurements older than 30 s', () => {
    const seen = withProgress(
      [
        { atMs: 0, done: 0 },
        { atMs: 20_000, done: 10 },
      ],
      { atMs: 40_000, done: 30 },
    );
    expect(seen.map(({ atMs }) => atMs)).toEqual([20_000, 40_000]);
  });

  it('gives the time left, except while no row is settled', () => {
    expect([secondsLeft(50, 25), secondsLeft(50, 0), secondsLeft(50, null)]).toEqual([2, null, null]);
  });
});
