import { addDecisions, withNewSettings, withReleased } from './recent-decisions.js';

type Decided = Parameters<typeof addDecisions>[1][number];

const decided = (state: Decided['state'], reason: string | null, n: number, more: Partial<Decided> = {}): Decided[] =>
  Array.from({ length: n }, () => ({ list: 'attendees', sequence: 1000, replay: 0, state, reason, ...more }));

describe('the latest decisions about a list', () => {
  it('are replaced by newer ones, and count as usual once they are no longer recent', () => {
    const first = addDecisions({}, decided('delivered', null, 50));
    expect(first).toEqual({ attendees: { sent: 40, lacking: 0, usual: { sent: 10, lacking: 0 } } });
    const second = addDecisions(first, decided('withheld', 'no-match', 4));
    expect(second).toEqual({ attendees: { sent: 36, lacking: 4, usual: { sent: 14, lacking: 0 } } });
  });

  it('do not count as usual while many of them lack a value', () => {
    const usual = { sent: 10, lacking: 0 };
    const first = addDecisions({}, decided('delivered', null, 50));
    const second = addDecisions(first, decided('withheld', 'no-match', 20));
    expect(second).toEqual({ attendees: { sent: 20, lacking: 20, usual } });
    const third = addDecisions(second, decided('withheld', 'no-match', 500));
    expect(third).toEqual({ attendees: { sent: 0, lacking: 40, usual } });
    expect(addDecisions(third, decided('delivered', null, 40))).toEqual({ attendees: { sent: 40, lacking: 0, usual } });
  });

  it('do not include decisions that say nothing about the mapping', () => {
    const before = { attendees: { sent: 1, lacking: 1, usual: { sent: 0, lacking: 0 } } };
    const others = [...decided('retry', null, 3), ...decided('withheld', 'consent-refused', 3)];
    expect(addDecisions(before, others)).toBe(before);
  });
});

describe('the latest decisions about a list, after the settings of the sink changed,', () => {
  const change = { lists: ['attendees'], decidedTo: 500 };

  it('count as usual, and are not mixed with decisions under the new settings', () => {
    const old = addDecisions({}, decided('delivered', null, 1373));
    const changed = withReleased(withNewSettings(old, change));
    expect(changed).toEqual({ attendees: { sent: 0, lacking: 0, usual: { sent: 1373, lacking: 0 }, decidedTo: 500 } });
    const after = addDecisions(changed, decided('withheld', 'no-match', 20));
    expect(after['attendees']).toMatchObject({ sent: 0, lacking: 20 });
  });

  it('do not count as usual if many of them lacked a value', () => {
    const usual = { sent: 100, lacking: 1 };
    const faulty = { attendees: { sent: 10, lacking: 30, usual } };
    expect(withReleased(withNewSettings(faulty, change))).toEqual({
      attendees: { sent: 10, lacking: 30, usual, decidedTo: 500 },
    });
    const always = { attendees: { sent: 10, lacking: 30, usual: { sent: 0, lacking: 0 } } };
    expect(withReleased(withNewSettings(always, change))).toEqual({
      attendees: { sent: 0, lacking: 0, usual: { sent: 0, lacking: 0 } },
    });
  });

  it('do not include changes that lacked a value before and lack it again, except those of a replay', () => {
    const changed = withNewSettings(addDecisions({}, decided('delivered', null, 1373)), change);
    expect(addDecisions(changed, decided('withheld', 'no-match', 30, { sequence: 500 }))).toBe(changed);
    const replayed = addDecisions(changed, decided('withheld', 'no-match', 30, { sequence: 500, replay: 1 }));
    expect(replayed['attendees']).toMatchObject({ sent: 0, lacking: 30 });
    const cured = addDecisions(changed, decided('delivered', null, 30, { sequence: 500 }));
    expect(cured['attendees']).toMatchObject({ sent: 30, lacking: 0 });
  });

  it('are unchanged if the release of withheld changes starts again after a crash', () => {
    const started = withNewSettings({ attendees: { sent: 10, lacking: 30, usual: { sent: 0, lacking: 0 } } }, change);
    expect(started['attendees']!.isReleasing).toBe(true);
    expect(withNewSettings(started, change)).toEqual(started);
  });
});
