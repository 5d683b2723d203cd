import { scaleTop } from './chart-scale.js';

describe('the scale of a chart', () => {
  it('ends at the largest value of a usual hour', () => {
    expect(scaleTop([0, 3, 5, 4, 8, 6, 7])).toBe(8);
    expect(scaleTop([])).toBe(1);
    expect(scaleTop([0, 5000])).toBe(5000);
  });

  it('is not stretched by a first read, which would flatten all other steps', () => {
    const hour = [...Array.from({ length: 30 }, (_, n) => 10 + (n % 5)), 48_000, 52_000];
    expect(scaleTop(hour)).toBeLessThan(30);
    expect(scaleTop(hour)).toBeGreaterThanOrEqual(14);
  });
});
