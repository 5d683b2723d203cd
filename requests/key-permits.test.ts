import type { QuotaState } from './quota.js';
import type { Quota } from '../pigeonhole/response.js';
import { updatesQuota } from './key-permits.js';

const known: QuotaState = {
  limit: 1000,
  remaining: 400,
  used: 600,
  usedImports: 0,
  usedIdle: 0,
  usedSweeps: 0,
  window: 1,
  resetInMs: 60_000,
  askInMs: null,
  asks: 0,
};
const reported = (more: Partial<Quota>): Quota => ({
  limit: 1000,
  remaining: 400,
  resetInMs: 50_000,
  resetAtMs: null,
  ...more,
});
const age = 10_000;

describe('a quota reported by the service', () => {
  it.each<[string, Partial<QuotaState>, Quota | null, boolean]>([
    ['contains nothing new if it matches the count', {}, reported({}), false],
    ['contains nothing new if a later request was counted since', {}, reported({ remaining: 405 }), false],
    ['contains nothing new if the response reports none', {}, null, false],
    ['contains nothing new if the reset differs by 1 s', {}, reported({ resetInMs: 51_000 }), false],
    ['is stored if fewer requests remain', {}, reported({ remaining: 399 }), true],
    ['is stored if the limit changed', {}, reported({ limit: 2000 }), true],
    ['is stored if a new window started', {}, reported({ resetInMs: 86_000_000 }), true],
    [
      'contains nothing new if slightly more requests remain than counted and no reset is reported',
      { resetInMs: null },
      reported({ remaining: 450, resetInMs: null }),
      false,
    ],
    [
      'is stored if many more requests remain than counted and no reset is reported',
      { resetInMs: null },
      reported({ remaining: 600, resetInMs: null }),
      true,
    ],
    ['is stored if no reset was known', { resetInMs: null }, reported({}), true],
    ['is stored if nothing was known', { limit: null, remaining: null }, reported({}), true],
  ])('%s', (_, more, quota, expected) => {
    expect(updatesQuota({ ...known, ...more }, age, quota)).toBe(expected);
  });

  it('is stored if this process has not read the ledger yet', () => {
    expect(updatesQuota(undefined, 0, reported({}))).toBe(true);
  });
});
