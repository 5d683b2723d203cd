import type { QuotaState } from './quota.js';
import type { Quota } from '../../pigeonhole/response-headers.js';
import { isNews } from './is-news.js';

const known: QuotaState = {
  limit: 1000,
  told: true,
  remaining: 400,
  used: 600,
  usedImports: 0,
  usedIdle: 0,
  usedSweeps: 0,
  window: 1,
  planInMs: 60_000,
  resetInMs: 60_000,
  resetTold: true,
  refusals: 0,
  waitMs: 0,
  aloneMs: 0,
};
const said = (more: Partial<Quota>): Quota => ({
  limit: 1000,
  remaining: 400,
  resetInMs: 50_000,
  resetAtMs: null,
  ...more,
});
const age = 10_000;

describe('what an answer says of the quota', () => {
  it.each<[string, Partial<QuotaState>, Quota | null, boolean]>([
    ['is no news when it is what was counted', {}, said({}), false],
    ['is no news when it was said before a later request was counted', {}, said({ remaining: 405 }), false],
    ['is no news when it says nothing', {}, null, false],
    ['is no news when the reset is told a second off', {}, said({ resetInMs: 51_000 }), false],
    ['is news when less is left', {}, said({ remaining: 399 }), true],
    ['is news when the plan is another one', {}, said({ limit: 2000 }), true],
    ['is news when the limit was a guess', { told: false }, said({}), true],
    ['is news when the window is another one', {}, said({ resetInMs: 86_000_000 }), true],
    [
      'is no news when a little more is left than counted, and no reset is told',
      { resetTold: false },
      said({ remaining: 450, resetInMs: null }),
      false,
    ],
    [
      'is news when much more is left than counted, and no reset is told',
      { resetTold: false },
      said({ remaining: 600, resetInMs: null }),
      true,
    ],
    ['is news when no reset was known', { resetTold: false }, said({}), true],
    ['is news when nothing was known', { limit: null, remaining: null }, said({}), true],
  ])('%s', (_, more, quota, expected) => {
    expect(isNews({ ...known, ...more }, age, quota)).toBe(expected);
  });

  it('is news when the ledger was never asked', () => {
    expect(isNews(undefined, 0, said({}))).toBe(true);
  });
});
