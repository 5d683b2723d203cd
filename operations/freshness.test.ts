import {
  type CadenceGroup,
  cadenceWords,
  combineFreshness,
  type FreshnessSummary,
  judgeFreshness,
  readingWait,
  type RequestState,
} from './freshness.js';
import type { ListReading } from './lateness.js';
import { listReading as list, minute, now, secondsAgo } from './list-reading.test-kit.js';
import { waitWords } from '../base/reading-words.js';

const group = (given: Partial<CadenceGroup>): CadenceGroup => ({
  reason: 'live',
  lists: 1,
  everyMs: 5000,
  longestEveryMs: given.everyMs ?? 5000,
  wantedMs: given.everyMs ?? 5000,
  shortestWantedMs: given.wantedMs ?? given.everyMs ?? 5000,
  readAt: secondsAgo(3),
  nextAt: secondsAgo(-2),
  ...given,
});
const judge = (groups: readonly CadenceGroup[], maybeLate: readonly ListReading[] = [], paused = false) =>
  judgeFreshness({ groups, maybeLate }, { paused, now });

const isoAgo = (seconds: number): string => secondsAgo(seconds).toISOString();

describe('the freshness of a pigeonhole', () => {
  it('is that of its live lists, and ignores lists with a longer interval', () => {
    const rare = group({ reason: 'unfilled', lists: 8, everyMs: 360 * minute, readAt: secondsAgo(1770) });
    const quiet = group({ reason: 'no-session', lists: 12, everyMs: 5 * minute, readAt: secondsAgo(240) });
    const freshness = judge([group({ lists: 6 }), quiet, rare]);
    expect(freshness).toMatchObject({ state: 'current', liveLists: 6, readAt: isoAgo(3), nextAt: isoAgo(-2) });
  });

  it.each<[string, readonly CadenceGroup[], string | null]>([
    [
      'the age of the oldest list if none is live',
      [group({ reason: 'upcoming', readAt: secondsAgo(200) })],
      isoAgo(200),
    ],
    [
      'measured without lists that their sessions do not fill',
      [group({ reason: 'ended', readAt: secondsAgo(9) }), group({ reason: 'unfilled', readAt: secondsAgo(999) })],
      isoAgo(9),
    ],
    [
      'measured by dormant lists if there are no others',
      [group({ reason: 'dormant', readAt: secondsAgo(999) })],
      isoAgo(999),
    ],
    ['unknown before the first read', [group({ reason: null, everyMs: null, readAt: null })], null],
  ])('is %s', (_, groups, readAt) => {
    expect(judge(groups)).toMatchObject({ liveLists: 0, readAt, state: readAt === null ? 'unread' : 'current' });
  });

  it('is late if a list is late, and names the list that is most overdue', () => {
    const late = [list({ readAt: secondsAgo(40) }), list({ list: 'votes', sessionId: 5001, readAt: secondsAgo(65) })];
    const freshness = judge([group({})], late);
    expect(freshness.state).toBe('late');
    expect(freshness.late).toBe('votes of session 5001 (every 5 s: the event is live) and 1 more');
  });

  it.each<[string, Partial<ListReading>]>([
    // The next read was planned earlier: at the final sweep.
    ['every 6 h: the event has ended', { reason: 'ended', everyMs: 33 * minute, wantedMs: 360 * minute }],
    ['every 40 s: the event is live, lengthened from 5 s so that the quota lasts', { everyMs: 40_000, wantedMs: 5000 }],
  ])('names the list that is late with its interval, "%s", as the group of the list does', (words, given) => {
    const late = list({ readAt: secondsAgo(10_000), ...given });
    expect(judge([group(given)], [late])).toMatchObject({ late: `questions (${words})`, groups: [{ cadence: words }] });
  });

  it('is due only when requests are possible again', () => {
    const request = { waitReason: null, waitUntil: null, unansweredSince: null };
    const nextAt = (state: Partial<RequestState>, groups = [group({})]) => {
      const waits = readingWait({ ...request, ...state }, now);
      const {
        nextAt: next,
        groups: [first],
      } = judgeFreshness({ groups, maybeLate: [] }, { paused: false, waits, now });
      expect(first!.nextAt).toEqual(next);
      return [next, waits === null ? null : waitWords(waits)];
    };
    const waitUntil = secondsAgo(-1800);
    expect(nextAt({})).toEqual([isoAgo(-2), null]);
    expect(nextAt({ waitReason: 'quota', waitUntil })).toEqual([
      waitUntil.toISOString(),
      'waits for the quota until 2026-11-21T10:30:00Z',
    ]);
    expect(nextAt({ waitReason: 'throttled', waitUntil }, [group({ nextAt: secondsAgo(-3600) })])).toEqual([
      isoAgo(-3600),
      'waits for the service until 2026-11-21T10:30:00Z',
    ]);
    expect(nextAt({ waitReason: 'quota', waitUntil: secondsAgo(1) })).toEqual([isoAgo(-2), 'waits for the quota']);
    const silent = 'waits for the service, tried every';
    expect(nextAt({ unansweredSince: secondsAgo(60) })).toEqual([null, `${silent} 10 s`]);
    expect(nextAt({ unansweredSince: secondsAgo(60), waitReason: 'quota', waitUntil })[0]).toEqual(
      waitUntil.toISOString(),
    );
  });

  it('is catching up after a hindrance until the lists that were due have been read', () => {
    const hindrances = [{ startedMsAgo: 2 * minute, endedMsAgo: 3000 }];
    const isCatchingUp = (...maybeLate: ListReading[]): boolean =>
      judgeFreshness({ groups: [group({})], maybeLate }, { paused: false, now, hindrances }).catchingUp;
    expect(isCatchingUp(list({ readAt: secondsAgo(124) }))).toBe(true);
    expect(isCatchingUp(list({ readAt: secondsAgo(2) }))).toBe(false);
    expect(isCatchingUp(list({ readAt: secondsAgo(9999) }))).toBe(false); // late
    expect(judge([group({})], [list({ readAt: secondsAgo(9999) })], true).catchingUp).toBe(false);
  });

  it('is neither late nor due while reading is paused', () => {
    const freshness = judge([group({})], [list({ readAt: secondsAgo(4000) })], true);
    expect(freshness).toMatchObject({ state: 'paused', nextAt: null, late: null, lateLists: 0 });
  });

  it('ignores lists for 2 min after a start if they were last read before it', () => {
    const old = list({ readAt: secondsAgo(4000) });
    const stateAt = (each: ListReading, upMs: number) =>
      judgeFreshness({ groups: [group({})], maybeLate: [each] }, { paused: false, now, upMs }).state;
    expect(stateAt(old, minute)).toBe('current');
    expect(stateAt(list({ readAt: null, everyMs: null, dueAt: secondsAgo(4000) }), minute)).toBe('current');
    expect(stateAt(old, 2 * minute)).toBe('late');
    expect(stateAt(list({ readAt: secondsAgo(50) }), minute)).toBe('late');
  });
});

describe('the wording of an interval', () => {
  it.each<[string, Partial<CadenceGroup>]>([
    ['every 5 s: the event is live', {}],
    ['every 5 s: a rehearsal is in progress', { reason: 'rehearsal' }],
    [
      'every 10 s to 5 min: no session runs',
      {
        reason: 'no-session',
        everyMs: 10_000,
        longestEveryMs: 5 * minute,
        wantedMs: 5 * minute,
        shortestWantedMs: 10_000,
      },
    ],
    ['every 40 s: the event is live, lengthened from 5 s so that the quota lasts', { everyMs: 40_000, wantedMs: 5000 }],
    [
      'every 3 min to 30 min: workspace lists are not tied to an event, lengthened from 60 s so that the quota lasts',
      {
        reason: 'workspace',
        everyMs: 3 * minute,
        longestEveryMs: 30 * minute,
        wantedMs: 30 * minute,
        shortestWantedMs: minute,
      },
    ],
    [
      'every 3 min to 60 min: workspace lists are not tied to an event, lengthened from 60 s and 30 min so that the quota lasts',
      {
        reason: 'workspace',
        everyMs: 3 * minute,
        longestEveryMs: 60 * minute,
        wantedMs: 30 * minute,
        shortestWantedMs: minute,
      },
    ],
    // The next read is planned earlier: at the final sweep.
    ['every 6 h: the event has ended', { reason: 'ended', everyMs: 33 * minute, wantedMs: 360 * minute }],
    ['every 6 h: sessions of this type never produce this data', { reason: 'unfilled', everyMs: 360 * minute }],
    ['no longer read: the event ended more than a week ago', { reason: 'dormant' }],
    ['not read yet', { reason: null, everyMs: null }],
  ])('can be "%s"', (words, given) => {
    expect(cadenceWords(group(given))).toBe(words);
  });
});

describe('the freshness of several pigeonholes', () => {
  const summary = (given: Partial<FreshnessSummary>): FreshnessSummary => ({
    state: 'current',
    liveLists: 0,
    readAt: isoAgo(300),
    nextAt: isoAgo(-60),
    waits: null,
    catchingUp: false,
    lateLists: 0,
    lateSeconds: 0,
    ...given,
  });
  const live = summary({ liveLists: 6, readAt: isoAgo(3), nextAt: isoAgo(-2) });

  it('is that of the live ones', () => {
    expect(combineFreshness([summary({}), live])).toEqual(live);
  });

  it('has the next read of the list that was read longest ago', () => {
    const fast = group({ reason: 'new', readAt: secondsAgo(28), nextAt: secondsAgo(-32) });
    const slow = group({ reason: 'upcoming', readAt: secondsAgo(840), nextAt: secondsAgo(-60) });
    expect(judge([fast, slow])).toMatchObject({ readAt: isoAgo(840), nextAt: isoAgo(-60) });
    const one = summary({ readAt: isoAgo(840), nextAt: isoAgo(-60) });
    const other = summary({ readAt: isoAgo(28), nextAt: isoAgo(-32) });
    expect(combineFreshness([other, one])).toEqual(one);
  });

  it('is late if one pigeonhole is late, even if it is not live', () => {
    const late = summary({ state: 'late', lateLists: 2, lateSeconds: 90 });
    expect(combineFreshness([late, live])).toEqual({ ...live, state: 'late', lateLists: 2, lateSeconds: 90 });
  });

  it('is catching up if one pigeonhole is', () => {
    expect(combineFreshness([summary({ catchingUp: true }), live])).toEqual({ ...live, catchingUp: true });
  });

  const paused = summary({ state: 'paused', liveLists: 9, readAt: isoAgo(17), nextAt: null });

  it('has no next read as soon as one pigeonhole is paused', () => {
    expect(combineFreshness([paused, live])).toEqual({ ...live, liveLists: 15, nextAt: null });
  });

  it('is the age of the paused live lists if no others are live', () => {
    expect(combineFreshness([paused, summary({})])).toEqual({ ...paused, state: 'current' });
    expect(combineFreshness([paused])).toEqual(paused);
    const { readAt } = paused;
    expect(combineFreshness([summary({ state: 'paused' }), paused])).toMatchObject({ state: 'paused', readAt });
  });
});
