import type { QuotaState } from './quota.js';
import {
  aloneBelow,
  lastsMs,
  minRemaining,
  leftForReading,
  mayTakeAhead,
  type Needs,
  refusalOf,
  needsUntil,
  stretchFor,
  unstretched,
  waitAfterRefusal,
} from './quota-rules.js';

const quota = (more: Partial<QuotaState> = {}): QuotaState => ({
  limit: 1000,
  told: true,
  remaining: 500,
  used: 500,
  usedImports: 0,
  usedIdle: 50,
  usedSweeps: 50,
  window: 1,
  resetInMs: 3_600_000,
  planInMs: 3_600_000,
  resetTold: true,
  refusals: 0,
  waitMs: 0,
  aloneMs: 0,
  ...more,
});
const needs: Needs = { live: 200, idle: 30, sweep: 400 };
const minute = 60_000;

describe('what has to be left for a request to be spent', () => {
  it.each<[string, Parameters<typeof minRemaining>[0], Partial<QuotaState>, number]>([
    ['nothing, for an import', 'import', {}, 0],
    ['the reserve, for a live poll', 'live', {}, 100],
    ['the part of the reserve that imports have not used', 'live', { usedImports: 60 }, 40],
    ['no reserve once imports have used it', 'live', { usedImports: 130 }, 0],
    ['what live polls need besides, for an idle poll', 'idle', {}, 300],
    ['the reserve alone, for idle polls below their floor', 'idle', { usedIdle: 49 }, 100],
    ['what all polls need besides, for a sweep', 'sweep', {}, 330],
    ['the reserve alone, for sweeps below their floor', 'sweep', { usedSweeps: 49 }, 100],
    ['nothing while the limit is not known', 'sweep', { limit: null, remaining: null }, 0],
  ])('is %s', (_, priority, more, expected) => {
    expect(minRemaining(priority, quota(more), 0.1, needs)).toBe(expected);
  });
});

describe('a permit that is taken ahead of its request', () => {
  it.each<[string, Partial<QuotaState>, boolean]>([
    ['is taken while a tenth of the limit is free beside what has to stay', { remaining: 201 }, true],
    ['is not taken with less', { remaining: 200 }, false],
    ['is taken while no limit is known', { limit: null, remaining: null }, true],
    ['is not taken while a known limit is being found again', { remaining: null }, false],
    ['is not taken after a refusal', { limit: null, remaining: null, refusals: 1 }, false],
    ['is not taken of a quota so small that requests stand alone', { limit: 20, remaining: 105 }, false],
  ])('%s', (_, more, expected) => {
    expect(mayTakeAhead(quota(more), 100)).toBe(expected);
  });
});

describe('near the end of a quota', () => {
  it.each([
    [null, 0],
    [10, 5],
    [1000, 20],
    [100_000, 50],
  ])('of %p requests, one is under way at a time from %i left', (limit, expected) => {
    expect(aloneBelow(limit)).toBe(expected);
  });
});

describe('a refused permit', () => {
  it.each<[string, Parameters<typeof refusalOf>[0], Partial<QuotaState>, number, ReturnType<typeof refusalOf>]>([
    ['is none while enough is left', 'live', {}, 100, null],
    [
      'after a refusal of the service concerns everything',
      'import',
      { waitMs: 7000 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 7000 },
    ],
    [
      'with nothing left waits for the reset',
      'import',
      { remaining: 0 },
      0,
      { scope: 'key', reason: 'used-up', waitMs: 3_600_000 },
    ],
    [
      'of a live poll at the reserve concerns all reading',
      'live',
      { remaining: 100 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: 3_600_000 },
    ],
    [
      'of a window of which no end is told is probed after a minute',
      'live',
      { remaining: 0, resetTold: false, resetInMs: 86_400_000 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: minute, probes: true },
    ],
    [
      'of such a window is probed rarer and rarer',
      'sweep',
      { remaining: 0, resetTold: false, resetInMs: 86_400_000, refusals: 7 },
      100,
      { scope: 'key', reason: 'used-up', waitMs: 15 * minute, probes: true },
    ],
    [
      'of what is kept for imports is probed, too, where no end is told',
      'live',
      { remaining: 100, resetTold: false, resetInMs: 86_400_000 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: minute, probes: true },
    ],
    [
      'of what is kept of a limit that was learnt lasts until the window is over: no answer tells the rest',
      'live',
      { remaining: 100, told: false, resetTold: false, resetInMs: 80_000 },
      100,
      { scope: 'key', reason: 'kept-for-imports', waitMs: 80_000 },
    ],
    [
      'of a sweep concerns that request alone, and is looked at again soon',
      'sweep',
      { remaining: 100 },
      330,
      { scope: 'request', reason: 'kept-for-others', waitMs: minute },
    ],
    [
      'of an idle poll waits no longer than the window lasts',
      'idle',
      { remaining: 100, resetInMs: 900 },
      300,
      { scope: 'request', reason: 'kept-for-others', waitMs: 900 },
    ],
    [
      'beside another request near the end is short',
      'import',
      { remaining: 3, aloneMs: 30_000 },
      0,
      { scope: 'request', reason: 'one-at-a-time', waitMs: 250 },
    ],
    [
      'beside a probe is short',
      'live',
      { limit: null, remaining: null, refusals: 1, aloneMs: 30_000 },
      0,
      { scope: 'request', reason: 'one-at-a-time', waitMs: 250 },
    ],
    ['is none when a new window has begun meanwhile', 'live', { remaining: 0, resetInMs: 0 }, 100, null],
    ['is none while the limit is not known', 'sweep', { limit: null, remaining: null }, 0, null],
  ])('%s', (_, priority, more, least, expected) => {
    expect(refusalOf(priority, quota(more), least)).toEqual(expected);
  });
});

describe('the wait after a refusal', () => {
  it.each<[string, number | null, number | undefined, number, number]>([
    ['lasts until the reset that the service tells', 90_000, undefined, 5, 90_000],
    ['lasts as long as Retry-After says, where there is one', 90_000, 30_000, 0, 30_000],
    ['is a second at least', 0, undefined, 0, 1000],
    ['is a minute at first where nothing is told', null, undefined, 0, minute],
    ['doubles with each refusal then', null, undefined, 2, 4 * minute],
    ['is a quarter of an hour at most then', null, undefined, 60, 15 * minute],
  ])('%s', (_, resetInMs, retryAfterMs, refusals, expected) => {
    expect(waitAfterRefusal({ resetInMs, retryAfterMs }, refusals)).toBe(expected);
  });
});

describe('the stretch of the intervals', () => {
  it.each<[string, Needs, number | null, ReturnType<typeof stretchFor>]>([
    ['is none while all fits', needs, 630, unstretched],
    ['is none while nothing is known', needs, null, unstretched],
    ['lets sweeps give way first', needs, 430, { live: 1, idle: 1, sweep: 2, untilMs: minute }],
    [
      'keeps the floor of sweeps',
      { live: 200, idle: 0, sweep: 400 },
      200,
      { live: 200 / 190, idle: 1, sweep: 40, untilMs: minute },
    ],
    [
      'lets idle polls give way next',
      { live: 100, idle: 100, sweep: 5 },
      155,
      { live: 1, idle: 2, sweep: 1, untilMs: minute },
    ],
    [
      'lets live polls give way last',
      { live: 1000, idle: 100, sweep: 100 },
      500,
      { live: 1000 / 450, idle: 4, sweep: 4, untilMs: minute },
    ],
    ['has a limit', needs, 0, { live: 100, idle: 100, sweep: 100, untilMs: minute }],
  ])('%s', (_, needed, left, expected) => {
    expect(stretchFor(needed, left, minute)).toEqual(expected);
  });

  it('makes everything fit', () => {
    for (const left of [100, 200, 431, 629]) {
      const { live, idle, sweep } = stretchFor(needs, left, minute);
      expect(needs.live / live + needs.idle / idle + needs.sweep / sweep).toBeLessThanOrEqual(left + 1e-6);
    }
  });
});

describe('what is needed until the reset', () => {
  const forecast = { needs: { live: 240, idle: 60, sweep: 12 }, spanMs: minute };

  it('is the forecast for that span', () => {
    expect(needsUntil(forecast, minute)).toEqual(forecast.needs);
    expect(needsUntil(forecast, 90_000)).toEqual(forecast.needs); // until it is made again
  });

  it('is its part towards the end of a window: what is left there is not short', () => {
    expect(needsUntil(forecast, 5000)).toEqual({ live: 20, idle: 5, sweep: 1 });
    expect(stretchFor(needsUntil(forecast, 5000), 30, 5000)).toEqual(unstretched);
  });
});

describe('what is left for reading', () => {
  it('is what is left but for the reserve', () => {
    expect(leftForReading(quota(), 0.1)).toBe(400);
    expect(leftForReading(quota({ remaining: 50 }), 0.1)).toBe(0);
    expect(leftForReading(quota({ limit: null }), 0.1)).toBeNull();
  });

  it('lasts as long as the rate allows, and says nothing when that is beyond the reset', () => {
    expect(lastsMs(100, 200, 3_600_000)).toBe(1_800_000);
    expect(lastsMs(100, 50, 3_600_000)).toBeNull();
    expect(lastsMs(null, 50, 3_600_000)).toBeNull();
    expect(lastsMs(100, 0, 3_600_000)).toBeNull();
  });
});
