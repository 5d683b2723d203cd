import { byReason, type OutcomeCount, total } from './ledger-status.js';

describe('the counts of a sink', () => {
  it('are summed by reason over lists and pigeonholes, the most frequent first', () => {
    const count = (
      state: OutcomeCount['state'],
      reason: string,
      changes: number,
      list = 'attendees',
    ): OutcomeCount => ({
      list,
      state,
      reason,
      changes,
    });
    const counts = [
      count('withheld', 'condition', 2),
      count('withheld', 'no-match', 3),
      count('withheld', 'no-match', 4, 'votes'),
      count('delivered', '', 9),
      count('dead', 'http:422', 1),
    ];
    expect(Object.entries(byReason(counts, 'withheld'))).toEqual([
      ['no-match', 7],
      ['condition', 2],
    ]);
    expect(total(byReason(counts, 'dead'))).toBe(1);
  });
});
