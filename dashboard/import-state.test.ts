import { importOutcomes } from '../importing/desk/import-views.js';
import { needsAPerson, outcomeWords, rowsDone } from './import-state.js';

const none = Object.fromEntries(importOutcomes.map((outcome) => [outcome, 0])) as Record<
  (typeof importOutcomes)[number],
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
    const withTodo = importOutcomes.filter((outcome) => outcomeWords[outcome].todo !== null);
    expect(withTodo).toEqual(importOutcomes.filter((outcome) => needsAPerson({ ...none, [outcome]: 1 }) === 1));
  });
});
