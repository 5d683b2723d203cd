import type { Priority, QuotaState } from './quota.js';
import {
  lastsMs,
  minRemaining,
  leftForReading,
  type Needs,
  type Refusal,
  refusalOf,
  needsUntil,
  stretchFor,
  unstretched,
  waitAfterRefusal,
} from './quota-rules.js';

const quota = (more: Partial<QuotaState> = {}): QuotaState => ({
  limit: 1000,
  remaining: 500,
  used: 500,
  usedImports: 0,
  usedIdle: 50,
  usedSweeps: 50,
  window: 1,
  resetInMs: 3_600_000,
  askInMs: null,
  asks: 0,
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

describe('a refused permit', () => {
  const silent = { resetInMs: null };
  it.each<[string, Priority, Partial<QuotaState>, number, Partial<Refusal> | null]>([
    ['does not occur while enough requests remain', 'live', {}, 100, null],
    [
      'lasts until the reset when no request remains',
      'import',
      { remaining: 0 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 3_600_000, plansAsk: false },
    ],
    [
      'after a refusal by the service lasts until one request may ask, if the reset is later',
      'import',
      { remaining: 0, askInMs: 7000, asks: 1 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 7000, plansAsk: false },
    ],
    [
      'for a live poll at the reserve applies to all reading',
      'live',
      { remaining: 100 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: 3_600_000, plansAsk: false },
    ],
    [
      'without a reported reset lasts until one request asks, after 1 min',
      'live',
      { ...silent, remaining: 0 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: minute, plansAsk: true },
    ],
    [
      'without a reported reset lasts longer after each request that asked in vain',
      'sweep',
      { ...silent, remaining: 0, asks: 7 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: 15 * minute, plansAsk: true },
    ],
    [
      'does not plan a second request that asks',
      'live',
      { ...silent, remaining: 0, asks: 2, askInMs: 90_000 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: 90_000, plansAsk: false },
    ],
    [
      'at the reserve also lasts until one request asks if no reset is reported',
      'idle',
      { ...silent, remaining: 100 },
      330,
      { scope: 'key', reason: 'kept-for-imports', waitMs: minute, plansAsk: true },
    ],
    [
      'for a sweep applies only to that request, which is tried again after 1 min',
      'sweep',
      { remaining: 101 },
      330,
      { scope: 'request', reason: 'kept-for-others', waitMs: minute, plansAsk: false },
    ],
    [
      'for an idle poll lasts no longer than the window',
      'idle',
      { remaining: 101, resetInMs: 900 },
      300,
      { scope: 'request', reason: 'kept-for-others', waitMs: 900 },
    ],
    ['lasts at least 250 ms', 'live', { remaining: 0, resetInMs: 1 }, 100, { waitMs: 250 }],
    ['does not occur when it is time to ask', 'live', { ...silent, remaining: 0, askInMs: 0, asks: 1 }, 100, null],
    ['does not occur while no response of the window has reported what remains', 'sweep', { remaining: null }, 0, null],
  ])('%s', (_, priority, more, mustRemain, expected) => {
    const reserved = priority === 'import' ? 0 : 100;
    const refusal = refusalOf(quota(more), { mustRemain, reserved });
    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatchObject(expected);
  });
});

describe('the wait after a refusal', () => {
  it.each<[string, number | null, number | undefined, number, number, boolean]>([
    ['lasts until the reported reset', 90_000, undefined, 5, 90_000, true],
    ['lasts as long as Retry-After says, after which one request asks', 90_000, 30_000, 0, 30_000, false],
    ['is at least 1 s', 0, undefined, 0, 1000, false],
    ['doubles if the service refuses again after the reset it reported', 0, undefined, 3, 8 * minute, false],
    ['doubles in the same way if the service requests no wait, and refuses again', null, 0, 2, 4 * minute, false],
    ['is 1 min at first if the service reports nothing', null, undefined, 0, minute, false],
    ['then doubles with each refusal', null, undefined, 2, 4 * minute, false],
    ['is then at most 15 min', null, undefined, 60, 15 * minute, false],
  ])('%s', (_, resetInMs, retryAfterMs, asks, waitMs, untilReset) => {
    expect(waitAfterRefusal({ resetInMs, retryAfterMs }, asks)).toEqual({ waitMs, untilReset });
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
