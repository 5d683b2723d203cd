import { importOutcomes } from '../importing/desk/import-views.js';
import { needsAPerson, outcomeWords, rowsDone } from './import-state.js';

const none = Object.fromEntries(importOutcomes.map((outcome) => [outcome, 0])) as Record<
  (typeof importOutcomes)[number],
  number
>;

describe('how an import stands', () => {
  it('counts every row as done that waits for nothing any more', () => {
    expect(rowsDone({ rows: 10, counts: { ...none, created: 4, rejected: 1, waiting: 5 } })).toBe(5);
  });

  it('needs a person for rows that are not there as the file says, and for no others', () => {
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

  it('has something to do for exactly those', () => {
    const withTodo = importOutcomes.filter((outcome) => outcomeWords[outcome].todo !== null);
    expect(withTodo).toEqual(importOutcomes.filter((outcome) => needsAPerson({ ...none, [outcome]: 1 }) === 1));
  });
});
