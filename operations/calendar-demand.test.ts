import type { SessionTimes } from '../reading/stream-facts.js';
import type { ReadingPlan } from '../reading/reading-plan.js';
import { adviseOnQuota, calendarDemand, type PlannedPigeonhole, withIntervals } from './calendar-demand.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse('2026-11-21T10:00:00Z');
const today = Date.parse('2026-11-21T00:00:00Z');
const everyMs = { live: 10_000, new: hour, upcoming: 5 * minute, ended: 6 * hour, sweep: 30 * minute, lists: {} };

const plan = (...lists: ReadingPlan['lists']): ReadingPlan => ({
  lists,
  everyMs,
  drop: {},
  deletions: { settleMs: 0, confirmMs: 0, holdAbove: { share: 0, items: 0 } },
  sinks: new Map(),
});
const planned = (from: number, to: number, more: Partial<PlannedPigeonhole> = {}): PlannedPigeonhole => ({
  status: 'upcoming',
  event: { startsAt: today + from * day, endsAt: today + to * day },
  sessions: new Map(),
  expectedParticipants: null,
  plan: plan('attendees'),
  ...more,
});
const sessionOf = (startsAt: number, hours: number): SessionTimes => ({
  type: 'qna',
  startsAt,
  endsAt: startsAt + hours * hour,
});

describe('the requests that a calendar needs', () => {
  it('include, if wanted, the first days without a pigeonhole', () => {
    const days = calendarDemand([planned(2, 3)], [], { fromMs: now, everyDayOf: 3 });
    expect(days.map(({ pigeonholes }) => pigeonholes)).toEqual([0, 0, 1, ...days.slice(3).map(() => 1)]);
    expect(days[1]!.day > days[0]!.day).toBe(true);
    expect(calendarDemand([], [], { fromMs: now, everyDayOf: 3 })).toHaveLength(3);
  });

  it('are listed for each day with an event, starting today', () => {
    const days = calendarDemand([planned(-3, 1), planned(5, 7)], [], { fromMs: now });
    expect(days.map(({ day: name, pigeonholes }) => `${name} ${pigeonholes}`)).toEqual([
      '2026-11-21 1',
      '2026-11-26 1',
      '2026-11-27 1',
    ]);
  });

  it('are live polls on the event days, idle polls before, and a few after', () => {
    const [first, , third] = calendarDemand([planned(0, 1), planned(1, 2), planned(2, 3)], [], { fromMs: now });
    expect(first!.needs.live).toBeCloseTo(8640, 0);
    expect(first!.needs.idle).toBeCloseTo(2 * 288, 0);
    expect(third!.needs.idle).toBeLessThan(20 + 180);
  });

  it('are live polls of a session’s lists during the session and its margins', () => {
    const sessions = new Map([[7, sessionOf(today + 9 * hour, 2)]]);
    const [only] = calendarDemand([planned(0, 1, { sessions, plan: plan('votes') })], [], { fromMs: now });
    expect(only!.needs.live).toBeCloseTo((160 * minute) / 10_000, 0);
  });

  it('include one page of the rolling sweep for each poll of a long list', () => {
    const [small] = calendarDemand([planned(0, 1, { expectedParticipants: 300 })], [], { fromMs: now });
    const [large] = calendarDemand([planned(0, 1, { expectedParticipants: 301 })], [], { fromMs: now });
    expect(small!.needs.sweep).toBe(0);
    expect(large!.needs.sweep).toBeCloseTo(large!.needs.live, 0);
  });

  it.each([
    ['no page of a one-page list', 300, 0],
    ['all pages of a list with a few hundred rows', 700, 3],
    ['four pages of a longer list, however many people take part', 20_000, 4],
  ])('include for each poll of live questions %s', (_, expectedParticipants, pages) => {
    const [only] = calendarDemand([planned(0, 1, { expectedParticipants, plan: plan('questions') })], [], {
      fromMs: now,
    });
    expect(only!.needs.sweep / only!.needs.live).toBeCloseTo(pages, 1);
  });

  it('include the lists of the workspace itself', () => {
    const [only] = calendarDemand([planned(0, 1)], [plan('pigeonholes')], { fromMs: now });
    expect(only!.needs.idle).toBeCloseTo(24 * 60, 0);
  });
});

describe('the advice on a quota', () => {
  const pigeonholes = [planned(0, 1)];
  const [busiest] = calendarDemand(pigeonholes, [], { fromMs: now });

  it.each<[string, number | null, boolean | null, RegExp]>([
    ['that the quota suffices', 20_000, true, /needs about 8,640 requests of the 18,000 that reading may use: it fits/],
    ['that the quota is unknown', null, null, /add --quota N/],
    ['the shortest interval that fits', 5000, false, /with "every: \{ live: 30s, quiet: 5m \}" it needs 2,880/],
    ['to read less if no interval suffices', 10, false, /read fewer lists or pigeonholes/],
  ])('says %s', (_, quota, fits, text) => {
    const advice = adviseOnQuota(busiest, { quota, reserve: 0.1 }, pigeonholes, []);
    expect(advice).toMatchObject({ fits, text: expect.stringMatching(text) });
  });

  it('advises to poll upcoming events less often if they cause the demand', () => {
    const many = Array.from({ length: 100 }, () => planned(1, 2));
    const all = [...pigeonholes, ...many];
    const [first] = calendarDemand(all, [], { fromMs: now });
    expect(adviseOnQuota(first, { quota: 25_000, reserve: 0.1 }, all, []).text).toMatch(
      /with "every: \{ live: 10s, upcoming: \d+[mh] \}"|with "every: \{ upcoming: \d+[mh] \}"/,
    );
  });

  it('says that there is nothing to read without a pigeonhole', () => {
    expect(adviseOnQuota(undefined, { quota: 1, reserve: 0.1 }, [], []).text).toContain('takes place today or later');
  });

  it('suggests an interval that leads to the stated number of requests', () => {
    const [less] = calendarDemand(
      withIntervals(pigeonholes, (every) => ({ ...every, live: 30_000 })),
      [],
      { fromMs: now },
    );
    expect(less!.needs.live).toBeCloseTo(2880, 0);
  });
});
