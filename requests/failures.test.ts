import { ApiError, type ApiErrorFacts, type ApiErrorKind, apiErrorKinds } from '../pigeonhole/api-error.js';
import {
  type Before,
  type CursorHistory,
  isEndWorthLogging,
  isRequestFailure,
  isWorthLogging,
  judgeFailure,
  type Verdict,
} from './failures.js';
import { PermitRefusal } from './quota-rules.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const error = (kind: ApiErrorKind, more: Partial<ApiErrorFacts> = {}) =>
  new ApiError({ method: 'GET', path: '/v2/pigeonholes' }, { kind, problem: 'x', mayHaveTakenEffect: false, ...more });
const fresh: Before = { streamFailures: 0, workspaceWaits: 0, cursor: null };
const judge = (kind: ApiErrorKind, more: Partial<ApiErrorFacts> = {}, before = {}, random = 1): Verdict =>
  judgeFailure(error(kind, more), { ...fresh, ...before }, { now, random });

const minutes = (count: number): number => count * 60_000;

describe('the verdict on an API error', () => {
  const verdicts: Record<ApiErrorKind, Verdict> = {
    quota: { affects: 'workspace', reason: 'quota', waitMs: minutes(1) },
    throttled: { affects: 'workspace', reason: 'throttled', waitMs: 1000 },
    credential: { affects: 'workspace', reason: 'credential', waitMs: 30_000 },
    transient: { affects: 'stream', waitMs: 1000 },
    pigeonholeNotFound: { affects: 'stream', waitMs: 1000 },
    sessionNotFound: { affects: 'stream', waitMs: 1000 },
    notFound: { affects: 'stream', waitMs: 1000 },
    invalid: { affects: 'stream', waitMs: 1000 },
    invalidParameter: { affects: 'stream', waitMs: 1000 },
    malformed: { affects: 'stream', waitMs: 1000 },
    unsupported: { affects: 'stream', waitMs: 1000 },
    registrantsOff: { affects: 'stream', waitMs: 1000 },
    profilesOff: { affects: 'stream', waitMs: 1000 },
    protocol: { affects: 'stream', waitMs: 16_000 },
    aborted: { affects: 'nothing' },
  };

  it.each(apiErrorKinds)('exists for the kind %s', (kind) => {
    expect(judge(kind)).toEqual(verdicts[kind]);
  });

  describe('if the request had a cursor', () => {
    const unknown: CursorHistory = { failures: 0, discarded: 0, discardedNow: 0 };
    const affects = (kind: ApiErrorKind, cursor: Partial<CursorHistory> = {}): Verdict['affects'] =>
      judge(kind, {}, { cursor: { ...unknown, ...cursor } }).affects;

    it.each(apiErrorKinds)('puts the cursor under suspicion or not, for the kind %s', (kind) => {
      const first = affects(kind);
      const third = affects(kind, { failures: 2 });
      if (['quota', 'throttled', 'credential', 'aborted'].includes(kind)) {
        expect([first, third]).toEqual([judge(kind).affects, judge(kind).affects]);
      } else if (['transient', 'protocol'].includes(kind)) {
        expect([first, third]).toEqual(['stream', 'cursor']); // the same request may succeed later
      } else {
        expect([first, third]).toEqual(['cursor', 'cursor']);
      }
    });

    it('waits for twice as many failures that may pass after each discarded cursor', () => {
      const needed = (discarded: number): number => {
        let failures = 0;
        while (affects('transient', { failures, discarded }) !== 'cursor') failures += 1;
        return failures + 1;
      };
      expect([0, 1, 2, 3].map(needed)).toEqual([3, 6, 12, 24]);
    });

    it('walks again immediately three times, then after a wait that grows to 20 s', () => {
      const now = [0, 1, 2, 3].map((discardedNow) => affects('invalidParameter', { discardedNow }));
      expect(now).toEqual(['cursor', 'cursor', 'cursor', 'stream']);
      const waits = [3, 4, 9].map((discarded) =>
        judge('malformed', {}, { cursor: { failures: 0, discarded, discardedNow: 3 } }),
      );
      expect(waits).toEqual([8000, 16_000, 20_000].map((waitMs) => ({ affects: 'stream', waitMs, neverEnds: true })));
    });
  });

  it.each(apiErrorKinds.filter((kind) => !['quota', 'credential', 'aborted'].includes(kind)))(
    'leads to another request within a minute after 25 s of trouble of the kind %s',
    (kind) => {
      for (const random of [0, 0.5, 1]) {
        let [failures, troubleMs] = [0, 0];
        while (troubleMs < 25_000) {
          const verdict = judge(kind, {}, { streamFailures: failures, workspaceWaits: failures }, random);
          troubleMs += 'waitMs' in verdict ? verdict.waitMs : Number.NaN;
          failures += 1;
        }
        expect(troubleMs - 25_000).toBeLessThanOrEqual(60_000);
      }
    },
  );

  it('waits for the quota as long as the service requests', () => {
    const quota = { limit: 5, remaining: 0, resetInMs: 7000, resetAtMs: now + 7000 };
    expect(judge('quota', { quota })).toMatchObject({ waitMs: 7000 });
    expect(judge('quota', { quota, retryAfterMs: 9000 })).toMatchObject({ waitMs: 9000 });
    expect(judge('quota', { quota: { ...quota, resetAtMs: now - 5000 } })).toMatchObject({ waitMs: 1000 });
  });

  it('doubles the wait for a refused key, up to 15 min', () => {
    const waits = [0, 1, 2, 9].map((workspaceWaits) => judge('credential', {}, { workspaceWaits }));
    expect(waits.map((verdict) => 'waitMs' in verdict && verdict.waitMs)).toEqual([
      30_000,
      60_000,
      120_000,
      minutes(15),
    ]);
  });

  it('doubles the maximum wait with each consecutive failure, up to 5 min, and never waits less than half of it', () => {
    const wait = (streamFailures: number, random: number): number => {
      const verdict = judge('transient', {}, { streamFailures }, random);
      return 'waitMs' in verdict ? verdict.waitMs : Number.NaN;
    };
    expect([wait(0, 0), wait(0, 1), wait(3, 1), wait(3, 0.5), wait(60, 1), wait(60, 0)]).toEqual([
      500,
      1000,
      8000,
      6000,
      minutes(5),
      minutes(2.5),
    ]);
    expect(judge('transient', { retryAfterMs: 12_345 })).toEqual({ affects: 'stream', waitMs: 12_345 });
  });
});

describe('a refused permit', () => {
  const refusal = (scope: 'key' | 'request') => new PermitRefusal({ scope, reason: 'used-up', waitMs: 7000 });

  it('makes the workspace wait for its quota, or postpones only that request', () => {
    const judged = (scope: 'key' | 'request') => judgeFailure(refusal(scope), fresh, { now, random: 1 });
    expect(judged('key')).toEqual({ affects: 'workspace', reason: 'quota', waitMs: 7000 });
    expect(judged('request')).toEqual({ affects: 'request', waitMs: 7000 });
  });

  it('is handled like an API error, unlike a defect', () => {
    expect([refusal('key'), error('quota'), new Error('a defect')].map(isRequestFailure)).toEqual([true, true, false]);
  });
});

describe('a stream that cannot be read', () => {
  it.each<[ApiErrorKind, number, boolean, boolean]>([
    ['transient', 0, false, false], // mostly passes on its own
    ['transient', 3, false, true],
    ['transient', 4, false, false], // the failure is already logged
    ['transient', 3, true, false], // the whole service is down
    ['protocol', 0, false, true],
    ['protocol', 1, false, false],
    ['unsupported', 0, true, true],
  ])('with %s after %i failures (service down: %p) is logged: %p', (kind, failures, isDown, expected) => {
    expect(isWorthLogging(kind, failures, isDown)).toBe(expected);
  });

  it('is logged when it can be read again, if its failure was logged', () => {
    expect([3, 4].map((failures) => isEndWorthLogging(failures, false))).toEqual([false, true]);
    expect(isEndWorthLogging(40, true)).toBe(false);
  });
});
