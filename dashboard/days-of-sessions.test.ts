import { daysOfSessions } from './days-of-sessions.js';

const session = (startsAt: string | null, endsAt: string | null) => ({ startsAt, endsAt });

describe('the sessions of an event in time', () => {
  it('are on the days of the zone of the event, each at its share of the hours of the day', () => {
    const sessions = [
      session('2026-11-21T23:30:00Z', '2026-11-22T00:30:00Z'), // 08:30 on the 22nd in Tokyo
      session('2026-11-22T01:00:00Z', '2026-11-22T03:00:00Z'),
      session(null, null),
    ];
    const [day, ...others] = daysOfSessions(sessions, 'Asia/Tokyo');
    expect(others).toEqual([]);
    expect(day!.label).toContain('22');
    expect(day!.sessions.map(({ from, to }) => [from, to])).toEqual([
      [0.125, 0.375],
      [0.5, 1],
    ]);
    expect(day!.ticks.map(({ at }) => at)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(daysOfSessions(sessions, 'UTC')).toHaveLength(2);
  });

  it('have an axis that ends at one of at most seven times of day', () => {
    const [day] = daysOfSessions([session('2026-11-21T08:00:00Z', '2026-11-21T15:30:00Z')], null);
    expect(day!.ticks.map(({ at }) => at)).toEqual([0, 0.25, 0.5, 0.75, 1]); // every 2 h, to 16:00
  });

  it('last an hour without an end, at least a minute, and at most a day', () => {
    const at = (end: string | null) => daysOfSessions([session('2026-11-21T08:00:00Z', end)], null)[0]!;
    expect(at(null).endMs - at(null).startMs).toBe(3_600_000);
    expect(at('2026-11-20T08:00:00Z').sessions[0]!.to).toBeGreaterThan(0);
    expect(at('2099-01-01T00:00:00Z').endMs - at('2099-01-01T00:00:00Z').startMs).toBe(24 * 3_600_000);
  });

  it('are in UTC if the zone is not known to the browser', () => {
    expect(daysOfSessions([session('2026-11-21T08:00:00Z', null)], 'Mars/Olympus')[0]!.ticks[0]!.label).toMatch(/0?8/);
  });
});
