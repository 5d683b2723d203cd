import { judgeSessions } from './judge-event.js';

type Item = Readonly<Record<string, unknown>>;

const event: Item = { startDate: '2026-11-22', endDate: '2026-11-23', timezone: 'Asia/Tokyo' };
const session = (id: number, from: string, to: string, more: Item = {}): Item => ({
  id,
  name: `Session ${id}`,
  type: 'qna',
  startDate: `2026-11-${from}:00+09:00`,
  endDate: `2026-11-${to}:00+09:00`,
  ...more,
});
const morning = session(1, '22T09:00', '22T10:00', { location: 'Hall A' });

describe('the sessions of an event', () => {
  it.each<[string, Item[], string]>([
    ['are in order within its days', [morning, session(2, '23T22:00', '23T23:59')], 'ok'],
    [
      'may run at the same time in two places',
      [morning, session(2, '22T09:30', '22T10:30', { location: 'Hall B' })],
      'ok',
    ],
    [
      'may run at the same time without a place',
      [session(1, '22T09:00', '22T10:00'), session(2, '22T09:30', '22T11:00')],
      'ok',
    ],
    ['may follow each other in one place', [morning, session(2, '22T10:00', '22T11:00', { location: 'Hall A' })], 'ok'],
    [
      'of two types may run in one place at the same time',
      [morning, session(2, '22T09:00', '22T10:00', { location: 'Hall A', type: 'poll_quiz' })],
      'ok',
    ],
    [
      'may be part of another session',
      [morning, session(2, '22T09:10', '22T09:20', { location: 'Hall A', parentSessionId: 1 })],
      'ok',
    ],
    [
      'may overlap with breaks',
      [
        morning,
        session(2, '22T09:00', '22T10:00', { location: 'Hall A', type: 'break' }),
        session(3, '22T09:30', '22T10:00', { location: 'Hall A', type: 'break' }),
      ],
      'ok',
    ],
  ])('%s', (_, sessions, state) => {
    expect(judgeSessions(event, sessions).state).toBe(state);
  });

  it.each<[string, Item[], string, RegExp]>([
    ['that do not exist', [], 'failed', /^there are no sessions/],
    ['that end before they start', [session(7, '22T10:00', '22T09:00')], 'failed', /session 7 ends before it begins/],
    [
      'before its first day',
      [session(7, '21T23:00', '22T01:00')],
      'warning',
      /session 7 is not within the days of the event \(2026-11-22 to 2026-11-23, Asia\/Tokyo\)/,
    ],
    [
      'after its last day',
      [session(7, '23T23:00', '24T00:30'), session(8, '24T09:00', '24T10:00')],
      'warning',
      /sessions 7, 8 are not within/,
    ],
    ['without times', [{ id: 7, type: 'qna' }], 'warning', /session 7 has no times/],
    ['that last longer than a day', [session(7, '22T09:00', '23T10:00')], 'warning', /session 7 lasts more than a day/],
    [
      'that overlap in one place',
      [morning, session(2, '22T09:59', '22T11:00', { location: 'Hall A' })],
      'warning',
      /sessions 1 and 2 overlap at the same place/,
    ],
    [
      'that were entered twice',
      [morning, { ...morning, id: 2, location: null }],
      'warning',
      /sessions 1 and 2 have the same name and times/,
    ],
  ])('%s are reported', (_, sessions, state, says) => {
    const check = judgeSessions(event, sessions);
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
    expect(check.todo).toBeDefined();
  });

  it('are reported by id, without names, and at most five of them', () => {
    const strangers = Array.from({ length: 9 }, (_, n) => session(n + 1, '21T09:00', '21T10:00'));
    const { says } = judgeSessions(event, strangers);
    expect(says).toMatch(/sessions 1, 2, 3, 4, 5 and 4 more are not within/);
    expect(says).not.toContain('Session 1');
  });

  it('are not reported as missing if no sync reads them', () => {
    expect(judgeSessions(event, null)).toMatchObject({ state: 'ok', says: expect.stringContaining('not checked') });
  });

  it('cannot be compared with the days of the event if these are unknown', () => {
    expect(judgeSessions(null, [morning])).toMatchObject({
      state: 'warning',
      says: expect.stringContaining('not known'),
    });
  });
});
