import type { Priority, QuotaState } from './quota.js';
import {
  exclusiveBelow,
  lastsMs,
  minRemaining,
  leftForReading,
  type Needs,
  refusalOf,
  needsUntil,
  stretchFor,
  unstretched,
  waitAfterRefusal,
} from './quota-rules.js';

const quota = (more: Partial<QuotaState> = {}): QuotaState => ({
  limit: 1000,
  limitReported: true,
  remaining: 500,
  used: 500,
  usedImports: 0,
  usedIdle: 50,
  usedSweeps: 50,
  window: 1,
  resetInMs: 3_600_000,
  planInMs: 3_600_000,
  resetReported: true,
  refusals: 0,
  waitMs: 0,
  exclusiveMs: 0,
  ...more,
});
const needs: Needs = { live: 200, idle: 30, sweep: 400 };
const minute = 60_000;

describe('the minimum that must remain', () => {
  it.each<[string, Parameters<typeof minRemaining>[0], Partial<QuotaState>, number]>([
    ['zero for an import', 'import', {}, 0],
    ['the reserve for a live poll', 'live', {}, 100],
    ['the part of the reserve that imports have not used', 'live', { usedImports: 60 }, 40],
    ['zero once imports have used their reserve', 'live', { usedImports: 130 }, 0],
    ['the reserve and the needs of live polls for an idle poll', 'idle', {}, 300],
    ['only the reserve for idle polls below their floor', 'idle', { usedIdle: 49 }, 100],
    ['the reserve and the needs of all polls for a sweep', 'sweep', {}, 330],
    ['only the reserve for sweeps below their floor', 'sweep', { usedSweeps: 49 }, 100],
    ['zero while the limit is not known', 'sweep', { limit: null, remaining: null }, 0],
  ])('is %s', (_, priority, more, expected) => {
    expect(minRemaining(priority, quota(more), 0.1, needs)).toBe(expected);
  });
});

describe('near the end of a quota', () => {
  it.each([
    [null, 0],
    [10, 5],
    [1000, 20],
    [100_000, 50],
  ])('of %p requests, one is in progress at a time when %i are left', (limit, expected) => {
    expect(exclusiveBelow(limit)).toBe(expected);
  });
});

describe('a refused permit', () => {
  it.each<[string, Priority, Partial<QuotaState>, number, ReturnType<typeof refusalOf>]>([
    ['does not occur while enough requests remain', 'live', {}, 100, null],
    [
      'after a refusal by the service applies to every request',
      'import',
      { waitMs: 7000 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 7000 },
    ],
    [
      'lasts until the reset when no request remains',
      'import',
      { remaining: 0 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 3_600_000 },
    ],
    [
      'for a live poll at the reserve applies to all reading',
      'live',
      { remaining: 100 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: 3_600_000 },
    ],
    [
      'in a window without a reported reset is probed after 1 min',
      'live',
      { remaining: 0, resetReported: false, resetInMs: 86_400_000 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: minute, probes: true },
    ],
    [
      'in such a window is probed at growing intervals',
      'sweep',
      { remaining: 0, resetReported: false, resetInMs: 86_400_000, refusals: 7 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: 15 * minute, probes: true },
    ],
    [
      'at the reserve is also probed if no reset is reported',
      'live',
      { remaining: 100, resetReported: false, resetInMs: 86_400_000 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: minute, probes: true },
    ],
    [
      'at the reserve of a learnt limit lasts until the window ends, because no response reports what remains',
      'live',
      { remaining: 100, limitReported: false, resetReported: false, resetInMs: 80_000 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: 80_000 },
    ],
    [
      'for an idle poll at the reserve applies to all reading and is probed as well',
      'idle',
      { remaining: 100, resetReported: false, resetInMs: 86_400_000 },
      330,
      { scope: 'key', reason: 'kept-for-imports', waitMs: minute, probes: true },
    ],
    [
      'for a sweep applies only to that request, which is tried again after 1 min',
      'sweep',
      { remaining: 101 },
      330,
      { scope: 'request', reason: 'kept-for-others', waitMs: minute },
    ],
    [
      'for a sweep is probed at growing intervals if no reset is reported',
      'sweep',
      { remaining: 101, resetReported: false, resetInMs: 86_400_000, refusals: 1 },
      330,
      { scope: 'request', reason: 'kept-for-others', waitMs: 2 * minute, probes: true },
    ],
    [
      'for an idle poll lasts no longer than the window',
      'idle',
      { remaining: 101, resetInMs: 900 },
      300,
      { scope: 'request', reason: 'kept-for-others', waitMs: 900 },
    ],
    [
      'during an exclusive request lasts 250 ms',
      'import',
      { remaining: 3, exclusiveMs: 30_000 },
      0,
      { scope: 'request', reason: 'one-at-a-time', waitMs: 250 },
    ],
    [
      'during a probe lasts 250 ms',
      'live',
      { limit: null, remaining: null, refusals: 1, exclusiveMs: 30_000 },
      0,
      { scope: 'request', reason: 'one-at-a-time', waitMs: 250 },
    ],
    ['does not occur if a new window has started meanwhile', 'live', { remaining: 0, resetInMs: 0 }, 100, null],
    ['does not occur while the limit is not known', 'sweep', { limit: null, remaining: null }, 0, null],
  ])('%s', (_, priority, more, mustRemain, expected) => {
    const reserved = priority === 'import' ? 0 : 100;
    expect(refusalOf(quota(more), { mustRemain, reserved })).toEqual(expected);
  });
});

describe('the wait after a refusal', () => {
  it.each<[string, number | null, number | undefined, number, number]>([
    ['lasts until the reported reset', 90_000, undefined, 5, 90_000],
    ['lasts as long as Retry-After says', 90_000, 30_000, 0, 30_000],
    ['is at least 1 s', 0, undefined, 0, 1000],
    [
      'doubles like an unknown one if the service refuses again after the reset it reported',
      0,
      undefined,
      3,
      4 * minute,
    ],
    ['doubles in the same way if the service requests no wait, and refuses again', null, 0, 2, 2 * minute],
    ['is 1 min at first if the service reports nothing', null, undefined, 0, minute],
    ['then doubles with each refusal', null, undefined, 2, 4 * minute],
    ['is then at most 15 min', null, undefined, 60, 15 * minute],
  ])('%s', (_, resetInMs, retryAfterMs, refusals, expected) => {
    expect(waitAfterRefusal({ resetInMs, retryAfterMs }, refusals)).toBe(expected);
  });
});

describe('the factor that lengthens intervals', () => {
  it.each<[string, Needs, number | null, ReturnType<typeof stretchFor>]>([
    ['is 1 while the quota suffices', needs, 630, unstretched],
    ['is 1 while the quota is not known', needs, null, unstretched],
    ['lengthens sweeps first', needs, 430, { live: 1, idle: 1, sweep: 2, untilMs: minute }],
    [
      'keeps the floor of sweeps',
      { live: 200, idle: 0, sweep: 400 },
      200,
      { live: 200 / 190, idle: 1, sweep: 40, untilMs: minute },
    ],
    [
      'lengthens idle polls next',
      { live: 100, idle: 100, sweep: 5 },
      155,
      { live: 1, idle: 2, sweep: 1, untilMs: minute },
    ],
    [
      'lengthens live polls last',
      { live: 1000, idle: 100, sweep: 100 },
      500,
      { live: 1000 / 450, idle: 4, sweep: 4, untilMs: minute },
    ],
    ['is at most 100', needs, 0, { live: 100, idle: 100, sweep: 100, untilMs: minute }],
  ])('%s', (_, needed, left, expected) => {
    expect(stretchFor(needed, left, minute)).toEqual(expected);
  });

  it('makes all requests fit into the quota', () => {
    for (const left of [100, 200, 431, 629]) {
      const { live, idle, sweep } = stretchFor(needs, left, minute);
      expect(needs.live / live + needs.idle / idle + needs.sweep / sweep).toBeLessThanOrEqual(left + 1e-6);
    }
  });
});

describe('the need until the reset', () => {
  const forecast = { needs: { live: 240, idle: 60, sweep: 12 }, spanMs: minute };

  it('is the forecast for that span', () => {
    expect(needsUntil(forecast, minute)).toEqual(forecast.needs);
    expect(needsUntil(forecast, 90_000)).toEqual(forecast.needs); // until the forecast is repeated
  });

  it('is part of the forecast near the end of a window, so that the quota does not seem short', () => {
    expect(needsUntil(forecast, 5000)).toEqual({ live: 20, idle: 5, sweep: 1 });
    expect(stretchFor(needsUntil(forecast, 5000), 30, 5000)).toEqual(unstretched);
  });
});

describe('the number of requests left for reading', () => {
  it('excludes the reserve for imports', () => {
    expect(leftForReading(quota(), 0.1)).toBe(400);
    expect(leftForReading(quota({ remaining: 50 }), 0.1)).toBe(0);
    expect(leftForReading(quota({ limit: null }), 0.1)).toBeNull();
  });

  it('lasts as long as the rate allows, or is null if that is beyond the reset', () => {
    expect(lastsMs(100, 200, 3_600_000)).toBe(1_800_000);
    expect(lastsMs(100, 50, 3_600_000)).toBeNull();
    expect(lastsMs(100, 100.000_001, 3_600_000)).toBeNull(); // the factors are chosen so that it just lasts
    expect(lastsMs(null, 50, 3_600_000)).toBeNull();
    expect(lastsMs(100, 0, 3_600_000)).toBeNull();
  });
});
