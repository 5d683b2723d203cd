import { median, percentile } from './median.js';

describe('median', () => {
  it('is the middle value, whatever the order', () => expect(median([9, 1, 5])).toBe(5));
  it('is the mean of the two in the middle of an even number', () => expect(median([1, 2, 4, 100])).toBe(3));
  it('refuses no values', () => expect(() => median([])).toThrow(RangeError));
});

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  it('is the value of the nearest rank', () => {
    expect([0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([50, 99, 100]);
  });
  it('is the highest value where the share falls within the last rank', () => expect(percentile([3, 7], 0.99)).toBe(7));
});
