import { estimateSending, type SendingTerms } from './check-import.js';

const now = Date.parse('2026-11-21T18:00:00Z');
const quota = { limit: 100, remaining: 10, resetInMs: 3_600_000, resetTold: true, waitMs: 0 };
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
      'is a second a request where the quota reaches',
      {},
      { requests: 10, waits: 0, doneAt: '2026-11-21T18:00:10.000Z' },
    ],
    ['counts a last request that is not full', { rows: 5001 }, { requests: 11, waits: 1 }],
    ['begins again at the reset', { rows: 10_000 }, { requests: 20, waits: 1, doneAt: '2026-11-21T19:00:10.000Z' }],
    [
      'waits for further windows',
      { rows: 100_000, windowMs: 3_600_000 },
      { requests: 200, waits: 2, doneAt: '2026-11-21T20:01:30.000Z' },
    ],
    ['names no end where the length of a window is not known', { rows: 100_000 }, { waits: 2, doneAt: null }],
    [
      'names no end where the reset is not told',
      { rows: 10_000, quota: { ...quota, resetTold: false } },
      { waits: 1, doneAt: null, resetAt: null },
    ],
    ['has nothing left while a refusal is waited out', { quota: { ...quota, waitMs: 5 } }, { left: 0, waits: 1 }],
    [
      'knows nothing of a key that was never used',
      { quota: undefined },
      { left: null, limit: null, waits: null, doneAt: null },
    ],
    [
      'knows no number of waits without a limit',
      { rows: 10_000, quota: { ...quota, limit: null } },
      { waits: null, doneAt: null },
    ],
    ['is nothing for no rows', { rows: 0 }, { requests: 0, waits: 0 }],
  ])('%s', (_, given, expected) => {
    expect(estimateSending(termsOf(given), now)).toMatchObject(expected);
  });
});
