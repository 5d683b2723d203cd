import { estimateSending, type SendingTerms } from './check-import.js';

const now = Date.parse('2026-11-21T18:00:00Z');
const quota = { limit: 100, remaining: 10, resetInMs: 3_600_000 };
const termsOf = (given: Partial<SendingTerms> = {}): SendingTerms => ({
  rows: 5000,
  rowsPerRequest: 500,
  quota,
  windowMs: null,
  ...given,
});

describe('the estimate of an import', () => {
  it.each<[string, Partial<SendingTerms>, object]>([
    [
      'needs one second per request if the quota suffices',
      {},
      { requests: 10, waits: 0, doneAt: '2026-11-21T18:00:10.000Z' },
    ],
    ['counts a last request that is not full', { rows: 5001 }, { requests: 11, waits: 1 }],
    [
      'continues after the reset of the quota',
      { rows: 10_000 },
      { requests: 20, waits: 1, doneAt: '2026-11-21T19:00:10.000Z' },
    ],
    [
      'waits for as many further windows as the rows need',
      { rows: 100_000, windowMs: 3_600_000 },
      { requests: 200, waits: 2, doneAt: '2026-11-21T20:01:30.000Z' },
    ],
    ['names no end if the length of a window is unknown', { rows: 100_000 }, { waits: 2, doneAt: null }],
    [
      'names no end if the reset is unknown',
      { rows: 10_000, quota: { ...quota, resetInMs: null } },
      { waits: 1, doneAt: null, resetAt: null },
    ],
    [
      'counts on no request after the service refused one',
      { quota: { ...quota, remaining: 0 } },
      { left: 0, waits: 1 },
    ],
    [
      'knows neither quota nor waits if the key was never used',
      { quota: undefined },
      { left: null, limit: null, waits: null, doneAt: null },
    ],
    [
      'does not know the number of waits without a limit',
      { rows: 10_000, quota: { ...quota, limit: null } },
      { waits: null, doneAt: null },
    ],
    ['is zero without rows', { rows: 0 }, { requests: 0, waits: 0 }],
  ])('%s', (_, given, expected) => {
    expect(estimateSending(termsOf(given), now)).toMatchObject(expected);
  });
});
