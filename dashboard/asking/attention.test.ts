import { pauseAfter } from './attention.js';

describe('the pause between two requests of the page', () => {
  it('is that of the part while the operator uses the page, and long after a minute without input', () => {
    expect([pauseAfter(1500, 0), pauseAfter(5000, 59_999)]).toEqual([1500, 5000]);
    expect([pauseAfter(1500, 60_000), pauseAfter(60_000, 60_000)]).toEqual([20_000, 60_000]);
  });

  it('keeps an idle page with five parts, and the caller, under 20 requests a minute', () => {
    const aMinute = (everyMs: number): number => 60_000 / pauseAfter(everyMs, 120_000);
    const parts = [1500, 3000, 3000, 4000, 5000];
    expect(parts.reduce((sum, everyMs) => sum + aMinute(everyMs), aMinute(60_000))).toBeLessThan(20);
  });
});
