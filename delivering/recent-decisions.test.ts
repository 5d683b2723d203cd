import { addDecisions } from './recent-decisions.js';

const decided = (
  state: string,
  reason: string | null,
  n: number,
): { list: string; state: string; reason: string | null }[] =>
  Array.from({ length: n }, () => ({ list: 'attendees', state, reason }));

describe('the latest decisions about a list', () => {
  it('lose weight as newer ones arrive', () => {
    const first = addDecisions({}, decided('delivered', null, 200));
    expect(first).toEqual({ attendees: { sent: 200, lacking: 0 } });
    const second = addDecisions(first, decided('withheld', 'no-match', 100));
    expect(second).toEqual({ attendees: { sent: 100, lacking: 100 } });
    expect(addDecisions(second, decided('withheld', 'no-match', 500))).toEqual({
      attendees: { sent: 0, lacking: 500 },
    });
  });

  it('do not include decisions that say nothing about the mapping', () => {
    const before = { attendees: { sent: 1, lacking: 1 } };
    const others = [...decided('retry', null, 3), ...decided('withheld', 'consent-refused', 3)];
    expect(addDecisions(before, others)).toBe(before);
  });
});
