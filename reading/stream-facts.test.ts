import { eventTimes, sessionTimes } from './stream-facts.js';

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

describe('the days of a pigeonhole', () => {
  it.each([
    ['UTC', '2026-11-20T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['Asia/Tokyo', '2026-11-19T15:00:00.000Z', '2026-11-22T15:00:00.000Z'],
    ['Australia/Adelaide', '2026-11-19T13:30:00.000Z', '2026-11-22T13:30:00.000Z'],
    ['America/New_York', '2026-11-20T05:00:00.000Z', '2026-11-23T05:00:00.000Z'],
    ['Nowhere/Atlantis', '2026-11-20T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ])(
    'start and end at midnight in the time zone %s, or in UTC if the zone is unknown',
    (timezone, startsAt, endsAt) => {
      const { startsAt: from, endsAt: to } = eventTimes({ startDate: '2026-11-20', endDate: '2026-11-22', timezone });
      expect([iso(from), iso(to)]).toEqual([startsAt, endsAt]);
    },
  );

  it('start and end at local midnight if daylight saving time changes in between', () => {
    const { startsAt, endsAt } = eventTimes({
      startDate: '2026-03-29',
      endDate: '2026-03-29',
      timezone: 'Europe/Berlin',
    });
    expect([iso(startsAt), iso(endsAt)]).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  });

  it.each([[null], ['soon'], [{}], [{ startDate: 'soon', endDate: 20261122 }], [{ startDate: '2026-13-45' }]])(
    'are unknown for %j',
    (pigeonhole) => {
      expect(eventTimes(pigeonhole)).toEqual({ startsAt: null, endsAt: null });
    },
  );
});

describe('the times of a session', () => {
  it('are read with their UTC offset', () => {
    const times = sessionTimes({
      type: 'qna',
      startDate: '2026-11-21T09:00:00+09:00',
      endDate: '2026-11-21T01:30:00Z',
    });
    expect([times.type, iso(times.startsAt), iso(times.endsAt)]).toEqual([
      'qna',
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T01:30:00.000Z',
    ]);
  });

  it('are unknown if the service returns nothing or invalid values', () => {
    expect(sessionTimes({ type: 7, startDate: null, endDate: 'later' })).toEqual({
      type: undefined,
      startsAt: null,
      endsAt: null,
    });
  });
});
