import { median, percentile, verdictOf } from './report.js';

const figure = { bench: 'b', what: 'w', must: { atLeast: 0.8 }, aim: { atLeast: 1.3 } };

describe('the verdict on a figure', () => {
  it('is "missed" below the must, "must" from there on, and "aim" from the aim on', () => {
    expect([0.79, 0.8, 1.29, 1.3].map((value) => verdictOf({ ...figure, value }))).toEqual([
      'missed',
      'must',
      'must',
      'aim',
    ]);
  });

  it('is reversed for an upper limit', () => {
    const upper = { ...figure, must: { atMost: 250 }, aim: { atMost: 200 } };
    expect([251, 250, 200].map((value) => verdictOf({ ...upper, value }))).toEqual(['missed', 'must', 'aim']);
  });

  it('is "missed" for a value that is not a number', () => {
    expect(verdictOf({ ...figure, value: Number.NaN })).toBe('missed');
  });

  it('is "no target" without a target', () => {
    expect(verdictOf({ bench: 'b', what: 'w', value: 1 })).toBe('no target');
  });
});

describe('median', () => {
  it('is the middle value in any order', () => expect(median([9, 1, 5])).toBe(5));
  it('is the mean of the two middle values of an even number', () => expect(median([1, 2, 4, 100])).toBe(3));
  it('throws an error without values', () => expect(() => median([])).toThrow(RangeError));
});

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  it('is the value of the nearest rank', () => {
    expect([0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([50, 99, 100]);
  });
  it('is the highest value if the share falls within the last rank', () => expect(percentile([3, 7], 0.99)).toBe(7));
});
