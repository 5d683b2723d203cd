import type { Intervals } from '../config/config.js';
import { cadenceOf, noWindow, type StreamFacts, untilNextRead } from './cadence.js';
import { shortest } from './reading-plan.js';
import { unstretched } from '../requests/quota-rules.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const every: Intervals = {
  live: 5 * second,
  new: hour,
  upcoming: 5 * minute,
  ended: 6 * hour,
  sweep: 30 * minute,
  lists: { answers: 15 * second },
};
const now = Date.parse('2026-11-21T10:00:00Z');
const facts = (more: Partial<StreamFacts>): StreamFacts => ({
  list: 'attendees',
  sessionType: undefined,
  session: noWindow,
  status: 'live',
  event: { startsAt: now - day, endsAt: now + day },
  lastChangeAt: null,
  quietReads: 0,
  isUnordered: false,
  pages: 3,
  sweptAt: now - minute,
  endedAt: null,
  rehearsalUntil: null,
  stretch: unstretched,
  ...more,
});
const votes = { list: 'votes', sessionType: 'qna' } as const;
const isOn = { startsAt: now - hour, endsAt: now + hour };
const isOver = { startsAt: now - 5 * hour, endsAt: now - 3 * hour };
const isToCome = { startsAt: now + 3 * hour, endsAt: now + 5 * hour };

type Row = readonly [string, Partial<StreamFacts>, Partial<ReturnType<typeof cadenceOf>>];

describe('the interval of a stream', () => {
  it.each<Row>([
    ['as configured', {}, { pollInMs: 5 * second, priority: 'live', dormant: false }],
    ['as configured, however long nothing has changed', { quietReads: 1000 }, { pollInMs: 5 * second }],
    ['as configured for its list', { list: 'answers', session: isOn }, { pollInMs: 15 * second }],
    ['as a live one before its status is known', { status: null, event: noWindow }, { pollInMs: 5 * second }],
    ['as a live one if the status is not a known one', { status: 'postponed', event: isOn }, { pollInMs: 5 * second }],
    [
      'less often before the days of an event with such a status',
      { status: 'postponed', event: isToCome, quietReads: 20 },
      { pollInMs: 5 * minute },
    ],
    [
      'less often on a day after the event’s last day',
      { event: isOver, quietReads: 2 },
      { pollInMs: 20 * second, priority: 'idle' },
    ],
  ])('in a live pigeonhole is %s', (_, more, expected) => {
    expect(cadenceOf(facts(more), every, now)).toMatchObject(expected);
  });

  it.each<Row>([
    ['as configured during the session', { session: isOn, quietReads: 99 }, { pollInMs: 5 * second, priority: 'live' }],
    [
      'as configured ten minutes before',
      { session: { ...isToCome, startsAt: now + 10 * minute } },
      { pollInMs: 5 * second, priority: 'live' },
    ],
    [
      'as configured half an hour after',
      { session: { ...isOver, endsAt: now - 29 * minute } },
      { pollInMs: 5 * second, priority: 'live' },
    ],
    ['as configured if the session has no times', { session: noWindow, quietReads: 99 }, { pollInMs: 5 * second }],
    [
      'as configured if the session has only a start in the past',
      { session: { startsAt: now - day, endsAt: null }, quietReads: 99 },
      { pollInMs: 5 * second },
    ],
    [
      'as configured within 2 min after a change outside the session',
      { session: isOver, lastChangeAt: now - 119 * second, quietReads: 9 },
      { pollInMs: 5 * second, priority: 'live' },
    ],
    [
      'less often after these 2 min',
      { session: isOver, lastChangeAt: now - 2 * minute, quietReads: 1 },
      { pollInMs: 10 * second, priority: 'idle' },
    ],
    ['at least every five minutes', { session: isOver, quietReads: 99 }, { pollInMs: 5 * minute }],
    [
      'at the latest when its window starts',
      { session: { ...isToCome, startsAt: now + 12 * minute }, quietReads: 99 },
      { pollInMs: 2 * minute },
    ],
  ])('per session is %s', (_, more, expected) => {
    expect(cadenceOf(facts({ ...votes, ...more }), every, now)).toMatchObject(expected);
  });

  it.each<Row>([
    [
      'every half hour after the first read',
      { quietReads: 0, session: isOn },
      { pollInMs: 30 * minute, priority: 'idle' },
    ],
    ['at growing intervals', { quietReads: 2 }, { pollInMs: 2 * hour }],
    ['at least every six hours', { quietReads: 99 }, { pollInMs: 6 * hour }],
    ['as rarely before the event', { quietReads: 99, status: 'upcoming' }, { pollInMs: 6 * hour }],
    ['as configured after a change was found in it', { lastChangeAt: now - minute }, { pollInMs: 5 * second }],
  ])('is %s if its session’s type does not fill it', (_, more, expected) => {
    expect(cadenceOf(facts({ ...votes, sessionType: 'poll_quiz', ...more }), every, now)).toMatchObject(expected);
  });

  it('is not lengthened for a session type that is unknown', () => {
    expect(cadenceOf(facts({ ...votes, sessionType: undefined, session: isOn }), every, now).pollInMs).toBe(5 * second);
  });

  it.each<Row>([
    [
      'an hour, also for sweeps, if the pigeonhole is new',
      { status: 'new' },
      { pollInMs: hour, sweepInMs: hour, slicePages: 0 },
    ],
    [
      'five minutes if the pigeonhole is upcoming',
      { status: 'upcoming' },
      { pollInMs: 5 * minute, sweepInMs: 30 * minute, slicePages: 0 },
    ],
    [
      'five minutes also for a list with an interval of its own, which applies only while live',
      { status: 'upcoming', list: 'answers' },
      { pollInMs: 5 * minute },
    ],
  ])('before the event is %s', (_, more, expected) => {
    expect(cadenceOf(facts(more), every, now)).toMatchObject(expected);
  });

  it.each<Row>([
    ['a minute for pigeonholes', { list: 'pigeonholes', status: null }, { pollInMs: minute, slicePages: 2 }],
    [
      'the interval of sweeps for subscriptions',
      { list: 'subscriptions', status: null },
      { pollInMs: 30 * minute, slicePages: 0 },
    ],
  ])('of a workspace is %s', (_, more, expected) => {
    expect(cadenceOf(facts({ event: noWindow, ...more }), every, now)).toMatchObject(expected);
  });

  it('is the configured interval for the lists of a workspace', () => {
    const set = { ...every, lists: { pigeonholes: 7000 } };
    expect(cadenceOf(facts({ list: 'pigeonholes' }), set, now).pollInMs).toBe(7000);
  });
});

describe('the interval that a configuration states', () => {
  const stated = { ...every, quiet: every.live };
  const over = { ...votes, session: isOver, quietReads: 99 };

  it.each<[string, Partial<StreamFacts>, Intervals, Partial<ReturnType<typeof cadenceOf>>]>([
    ['is kept outside session times', over, stated, { pollInMs: 5 * second, reason: 'stated', priority: 'idle' }],
    ['is kept on a day outside the event', { event: isOver, quietReads: 9 }, stated, { pollInMs: 5 * second }],
    [
      'is kept for a list with an interval of its own',
      { ...over, list: 'answers', sessionType: 'poll_word_cloud' },
      every,
      { pollInMs: 15 * second, reason: 'stated' },
    ],
    [
      'grows up to `quiet` if that is stated as well',
      over,
      { ...every, quiet: minute },
      { pollInMs: minute, reason: 'no-session' },
    ],
    [
      'does not apply to a list that its session’s type does not fill',
      { ...over, sessionType: 'poll_quiz' },
      stated,
      { pollInMs: 6 * hour, reason: 'unfilled' },
    ],
    [
      'is lengthened by the quota before the intervals of lists whose session is running',
      { ...over, stretch: { live: 1, idle: 4, sweep: 1, untilMs: day } },
      stated,
      { pollInMs: 20 * second, wantedMs: 5 * second },
    ],
    [
      'is kept after the end',
      { status: 'ended', endedAt: now - 2 * day, sweptAt: now - day, quietReads: 9 },
      { ...every, ended: hour, longestEnded: hour },
      { pollInMs: hour, reason: 'ended' },
    ],
  ])('%s', (_, more, intervals, expected) => {
    expect(cadenceOf(facts(more), intervals, now)).toMatchObject(expected);
  });

  it('also applies to sweeps, so that an edit is found as soon as a new item', () => {
    expect(cadenceOf(facts({ list: 'questions', event: isOver, pages: 4 }), stated, now).slicePages).toBe(4);
  });
});

describe('in a rehearsal', () => {
  const rehearsalUntil = now + hour;
  it.each<[string, Partial<StreamFacts>]>([
    ['before the event', { status: 'upcoming' }],
    ['outside session times', { ...votes, session: isToCome, quietReads: 99 }],
    ['after the end', { status: 'ended', endedAt: now - 9 * day, sweptAt: now }],
  ])('a list is read at the live interval %s', (_, more) => {
    const expected = { pollInMs: 5 * second, reason: 'rehearsal', priority: 'live', dormant: false };
    expect(cadenceOf(facts({ ...more, rehearsalUntil }), every, now)).toMatchObject(expected);
    expect(cadenceOf(facts({ ...more, rehearsalUntil: now }), every, now).reason).not.toBe('rehearsal');
  });

  it('the quota still lengthens the interval', () => {
    const stretch = { live: 3, idle: 9, sweep: 9, untilMs: day };
    expect(cadenceOf(facts({ status: 'upcoming', rehearsalUntil, stretch }), every, now).pollInMs).toBe(15 * second);
  });
});

describe('after the end of a pigeonhole, a stream', () => {
  const ended = (since: number, sweptSince: number | null, more: Partial<StreamFacts> = {}) =>
    cadenceOf(
      facts({ status: 'ended', endedAt: now - since, sweptAt: sweptSince === null ? null : now - sweptSince, ...more }),
      every,
      now,
    );

  it.each<[string, number, number | null, Partial<ReturnType<typeof cadenceOf>>]>([
    [
      'is swept after an hour',
      10 * minute,
      20 * minute,
      { sweepInMs: 50 * minute, pollInMs: 50 * minute, slicePages: 0 },
    ],
    ['is swept once that hour has passed', hour, 2 * hour, { sweepInMs: 0, pollInMs: second, slicePages: 10 }],
    ['is swept next after a day', 3 * hour, hour, { sweepInMs: 21 * hour, pollInMs: 6 * hour }],
    ['is swept next after a week', 2 * day, day - 1, { sweepInMs: 5 * day, pollInMs: 6 * hour }],
    ['is swept once if several sweeps were missed', 3 * day, 4 * day, { sweepInMs: 0 }],
    ['is swept once more if all sweeps were missed', 30 * day, 31 * day, { sweepInMs: 0, dormant: false }],
    ['is swept immediately if it never was', 30 * day, null, { sweepInMs: 0, dormant: false }],
    ['is dormant after the last sweep', 7 * day, 0, { pollInMs: null, sweepInMs: null, slicePages: 0, dormant: true }],
  ])('%s', (_, since, sweptSince, expected) => {
    expect(ended(since, sweptSince)).toMatchObject(expected);
  });

  it('is read at intervals that grow up to a day', () => {
    const reads = [0, 1, 2, 3, 99].map((quietReads) => ended(2 * day, day - 1, { quietReads }).pollInMs);
    expect(reads).toEqual([6 * hour, 12 * hour, day, day, day]);
  });

  it('is scheduled from now on if the time of the end is unknown', () => {
    expect(ended(0, null, { endedAt: null, sweptAt: now - minute }).sweepInMs).toBe(hour);
  });

  it('is live again when the pigeonhole is', () => {
    expect(cadenceOf(facts({ status: 'live', endedAt: null, sweptAt: now - day }), every, now)).toMatchObject({
      pollInMs: 5 * second,
      dormant: false,
    });
  });
});

describe('the pages that each read sweeps', () => {
  it.each<[string, Partial<StreamFacts>, number]>([
    ['all of a live list of a thousand questions', { list: 'questions', pages: 4 }, 4],
    ['all of flagged questions', { list: 'qna-questions', pages: 5 }, 5],
    ['half of a longer list of questions', { list: 'questions', pages: 11 }, 6],
    ['half of a list of six pages of questions', { list: 'qna-questions', pages: 6 }, 3],
    ['one of a list of questions that was never walked completely', { list: 'questions', pages: null }, 1],
    ['at most ten of a long list', { list: 'questions', pages: 400 }, 10],
    ['one of any other live list', { pages: 334 }, 1],
    ['the only page of a short list', { pages: 1 }, 1],
    ['the only page of a short list that is not live', { pages: 1, status: 'upcoming' }, 1],
    ['none while it is not live', { ...votes, session: isOver }, 0],
    ['ten when a sweep is due', { ...votes, session: isOver, sweptAt: now - 31 * minute }, 10],
    ['ten when no sweep is complete yet', { sweptAt: null, pages: null }, 10],
  ])('are %s', (_, more, expected) => {
    expect(cadenceOf(facts(more), every, now).slicePages).toBe(expected);
  });
});

describe('a quota that does not suffice for all reads', () => {
  const stretch = { live: 2, idle: 3, sweep: 4, untilMs: day };
  it.each<Row>([
    ['live polls', {}, { pollInMs: 10 * second }],
    ['idle polls', { status: 'upcoming' }, { pollInMs: 15 * minute }],
    ['sweeps', { status: 'upcoming' }, { sweepInMs: 2 * hour }],
    ['rolling sweeps, which read fewer pages', { list: 'questions', pages: 20 }, { slicePages: 2 }],
    ['rolling sweeps of all pages', { list: 'questions', pages: 4 }, { slicePages: 1 }],
    ['rolling sweeps of one page, which stop', {}, { slicePages: 0 }],
    ['no sweeps of a single page, since they cost nothing', { pages: 1 }, { slicePages: 1 }],
  ])('stretches %s', (_, more, expected) => {
    expect(cadenceOf(facts({ stretch, ...more }), every, now)).toMatchObject(expected);
  });

  it('lengthens no interval beyond the reset, when the next window of the quota has started', () => {
    const most = { live: 100, idle: 100, sweep: 100 };
    for (const untilMs of [day, 10 * minute, 20 * second]) {
      const stretched = { ...most, untilMs };
      const live = cadenceOf(facts({ stretch: stretched }), every, now);
      expect(live.pollInMs).toBe(Math.min(500 * second, untilMs));
      const upcoming = cadenceOf(facts({ stretch: stretched, status: 'upcoming' }), every, now);
      expect(upcoming.pollInMs).toBe(Math.max(5 * minute, Math.min(500 * minute, untilMs)));
      expect(upcoming.sweepInMs).toBe(Math.max(30 * minute, untilMs));
    }
  });
});

describe('the intervals of several syncs', () => {
  const one = { live: 10, new: 100, upcoming: 50, ended: 70, sweep: 90, lists: {} };

  it('are the shortest of each', () => {
    expect(shortest([one, { ...one, live: 20, new: 30, sweep: 95 }])).toEqual({ ...one, new: 30 });
  });

  it('apply outside of session times if a sync configures its own', () => {
    expect(shortest([one, one])).not.toHaveProperty('quiet');
    expect(shortest([one, { ...one, quiet: 10 }])).toMatchObject({ live: 10, quiet: 10 });
    expect(shortest([one, { ...one, quiet: 900_000 }])).toMatchObject({ quiet: 300_000 });
  });

  it('of a sync that reads a list rarely do not slow down another sync', () => {
    const rare = { ...one, lists: { votes: 500, attendees: 5, pigeonholes: 600_000 } };
    expect(shortest([rare, one]).lists).toEqual({ votes: 10, attendees: 5, pigeonholes: 60_000 });
    expect(shortest([rare]).lists).toEqual(rare.lists);
  });
});

describe('the next read of a stream', () => {
  const dueAt = (interval: number, pigeonholeNumber: number, now: number): number =>
    now + untilNextRead(interval, pigeonholeNumber, now);

  it('is due at the same instant for all streams of a pigeonhole that were read within most of an interval', () => {
    const first = dueAt(2000, 7, 10_000);
    const starts = Array.from({ length: 15 }, (_, n) => first - 2000 + n * 100);
    expect(new Set(starts.map((now) => dueAt(2000, 7, now)))).toEqual(new Set([first]));
  });

  it('is at least a quarter of an interval away and at most one and a quarter', () => {
    for (let now = 1_800_000_000_000; now < 1_800_000_006_000; now += 37) {
      expect(untilNextRead(2000, 3, now)).toBeGreaterThanOrEqual(500);
      expect(untilNextRead(2000, 3, now)).toBeLessThanOrEqual(2500);
    }
  });

  it('is due at different instants for different pigeonholes', () => {
    expect(new Set([1, 2, 3, 4].map((pigeonholeNumber) => dueAt(2000, pigeonholeNumber, 10_000) % 2000)).size).toBe(4);
  });

  it('follows the last one by the whole interval where that is longer than a minute', () => {
    expect(untilNextRead(3_600_000, 7, 12_345)).toBe(3_600_000);
  });
});
