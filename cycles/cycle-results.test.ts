import { startStayTime } from './cycle-results.js';

describe('the time that is left of a stay', () => {
  it('is accepted by every timer', () => {
    const leftMs = startStayTime();
    expect(Number.isInteger(leftMs())).toBe(true);
    expect(AbortSignal.timeout(leftMs()).aborted).toBe(false);
  });
});
