import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { pigeonholeOf, troubleOf } from '../../cli/status/status.test-kit.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { type EventWork, isReady, judgeService, judgeSessions, workChecks } from './readiness.js';
import type { Trouble } from '../problem.js';

const pigeonhole: PigeonholeDetails = {
  ...pigeonholeOf({ name: 'ACME Summit', status: 'upcoming', freshAsOf: '2026-11-21T20:00:00.000Z' }),
  workspace: 'acme',
  syncs: ['conferences'],
  foundByMinute: [],
  troubles: [],
};
const trouble = (code: Trouble['code'], help: Trouble['help'] = null): Trouble =>
  troubleOf({ code, name: 'crm', title: `it is ${code}`, help });
const resume = { label: 'Resume', action: { do: 'resume', kind: 'sink', name: 'crm' }, see: null } as const;
const approve = { label: 'Start sending', action: { do: 'approve', kind: 'sink', name: 'crm' }, see: null } as const;

function found(given: Partial<Omit<EventWork, 'pigeonhole'>> & { pigeonhole?: Partial<PigeonholeDetails> }) {
  const checks = workChecks({
    sinks: [],
    troubles: [],
    deadLetters: [],
    ...given,
    pigeonhole: { ...pigeonhole, ...given.pigeonhole },
  });
  return Object.fromEntries(
    Object.values(checks)
      .flat()
      .map((check) => [check.id, check]),
  );
}

describe('the state of work before an event', () => {
  it('is ok if the event is read, nothing is paused, and no change is a dead letter', () => {
    const checks = Object.values(found({}));
    expect(checks.map(({ id, state, todo }) => [id, state, todo])).toEqual([
      ['reading', 'ok', undefined],
      ['running', 'ok', undefined],
      ['parked', 'ok', undefined],
    ]);
    expect(checks[0]!.says).toContain('ended at 2026-11-21 20:00 UTC');
    expect(isReady(checks)).toBe(true);
  });

  it.each<[string, Parameters<typeof found>[0], string, string, RegExp]>([
    ['no sync reads it', { pigeonhole: { syncs: [] } }, 'reading', 'failed', /no sync reads pigeonhole acme\/101/],
    [
      'the pigeonhole was deleted',
      { pigeonhole: { goneAt: '2026-11-20T00:00:00.000Z' } },
      'reading',
      'failed',
      /was deleted in the service/,
    ],
    [
      'the pigeonhole cannot be read',
      { troubles: [trouble('pigeonhole-failing')] },
      'reading',
      'failed',
      /it is pigeonhole-failing/,
    ],
    [
      'the pigeonhole was never read completely',
      { pigeonhole: { freshAsOf: null } },
      'reading',
      'warning',
      /for the first time/,
    ],
    [
      'the pigeonhole is being read for the first time',
      { pigeonhole: { state: 'backfilling' } },
      'reading',
      'warning',
      /first time/,
    ],
    ['a sink is paused', { troubles: [trouble('sink-paused', resume)] }, 'running', 'failed', /it is sink-paused/],
    ['the process cannot work', { troubles: [trouble('process-failing')] }, 'running', 'failed', /process-failing/],
    [
      'a sink only observes',
      { troubles: [trouble('sink-observing', approve)] },
      'running',
      'warning',
      /sink-observing/,
    ],
    [
      'changes were refused',
      {
        deadLetters: [
          { sink: 'crm', cause: 'http:422', changes: 2 },
          { sink: 'crm', cause: 'http:400', changes: 1 },
        ],
      },
      'parked',
      'failed',
      /^Sink crm has refused 3 changes$/,
    ],
    ['deletions wait', { pigeonhole: { heldDeletions: 1 } }, 'parked', 'failed', /1 deletion/],
  ])('is reported if %s', (_, given, id, state, says) => {
    const check = found(given)[id]!;
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
  });

  it('includes the command that helps', () => {
    const troubles = [trouble('sink-paused', resume), trouble('sink-observing', approve)];
    expect(found({ troubles })['running']).toMatchObject({
      state: 'failed',
      todo: 'pigeonpost resume sink:crm; pigeonpost sink approve crm',
    });
  });

  it('is not ready while a check is unknown', () => {
    const check = { id: 'event', label: 'Event', says: 'it is so' };
    expect(isReady([{ ...check, state: 'warning' }])).toBe(true);
    expect(isReady([{ ...check, state: 'unknown' }])).toBe(false);
    expect(isReady([{ ...check, state: 'failed' }])).toBe(false);
  });
});

type Item = Readonly<Record<string, unknown>>;

const days: Item = { startDate: '2026-11-22', endDate: '2026-11-23', timezone: 'Asia/Tokyo' };
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
    expect(judgeSessions(days, sessions).state).toBe(state);
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
    const check = judgeSessions(days, sessions);
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
    expect(check.todo).toBeDefined();
  });

  it('are reported by id, without names, and at most five of them', () => {
    const strangers = Array.from({ length: 9 }, (_, n) => session(n + 1, '21T09:00', '21T10:00'));
    const { says } = judgeSessions(days, strangers);
    expect(says).toMatch(/sessions 1, 2, 3, 4, 5 and 4 more are not within/);
    expect(says).not.toContain('Session 1');
  });

  it('are not reported as missing if no sync reads them', () => {
    expect(judgeSessions(days, null)).toMatchObject({ state: 'ok', says: expect.stringContaining('not checked') });
  });

  it('cannot be compared with the days of the event if these are unknown', () => {
    expect(judgeSessions(null, [morning])).toMatchObject({
      state: 'warning',
      says: expect.stringContaining('not known'),
    });
  });
});

describe('the check of the event in the service', () => {
  const event = { status: 'upcoming', startDate: '2026-11-22', endDate: '2026-11-23', timezone: 'UTC' };
  const failure = (kind: 'transient' | 'credential'): ApiError =>
    new ApiError({ method: 'GET', path: '/x' }, { kind, problem: 'it is refused', mayHaveTakenEffect: false });

  it.each<[string, Parameters<typeof judgeService>[0], string]>([
    ['is ok if the event is upcoming', { item: event, failure: null }, 'ok'],
    ['warns if the event has ended', { item: { ...event, status: 'ended' }, failure: null }, 'warning'],
    [
      'warns if the days of the event have passed',
      { item: { ...event, startDate: '2026-11-01', endDate: '2026-11-02' }, failure: null },
      'warning',
    ],
    ['warns if the event has no days', { item: { status: 'new' }, failure: null }, 'warning'],
    ['is unknown if the request fails', { item: event, failure: failure('transient') }, 'unknown'],
    ['fails if the service refuses the key', { item: event, failure: failure('credential') }, 'failed'],
  ])('%s', (_, asked, state) => {
    expect(judgeService(asked, Date.parse('2026-11-21T18:00:00Z')).state).toBe(state);
  });
});
