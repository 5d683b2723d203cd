import { addDecisions } from './recent-decisions.js';

const decided = (
  state: string,
  reason: string | null,
  n: number,
): { list: string; state: string; reason: string | null }[] =>
  Array.from({ length: n }, () => ({ list: 'attendees', state, reason }));

describe('the latest decisions about a list', () => {
  it('lose weight as newer ones arrive, and count as usual once they are no longer recent', () => {
    const first = addDecisions({}, decided('delivered', null, 250));
    expect(first).toEqual({ attendees: { sent: 200, lacking: 0, usual: { sent: 50, lacking: 0 } } });
    const second = addDecisions(first, decided('withheld', 'no-match', 20));
    expect(second).toEqual({ attendees: { sent: 180, lacking: 20, usual: { sent: 70, lacking: 0 } } });
  });

  it('do not count as usual while many of them lack a value', () => {
    const usual = { sent: 50, lacking: 0 };
    const first = addDecisions({}, decided('delivered', null, 250));
    const second = addDecisions(first, decided('withheld', 'no-match', 100));
    expect(second).toEqual({ attendees: { sent: 100, lacking: 100, usual } });
    const third = addDecisions(second, decided('withheld', 'no-match', 500));
    expect(third).toEqual({ attendees: { sent: 0, lacking: 200, usual } });
    expect(addDecisions(third, decided('delivered', null, 200))).toEqual({
      attendees: { sent: 200, lacking: 0, usual },
    });
  });

  it('do not include decisions that say nothing about the mapping', () => {
    const before = { attendees: { sent: 1, lacking: 1 } };
    const others = [...decided('retry', null, 3), ...decided('withheld', 'consent-refused', 3)];
    expect(addDecisions(before, others)).toBe(before);
  });
});
