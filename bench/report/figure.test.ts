import { verdictOf } from './figure.js';

const figure = { bench: 'b', what: 'w', unit: '', must: { atLeast: 0.8 }, aim: { atLeast: 1.3 } };

describe('the verdict on a figure', () => {
  it('is missed below the must, must from it on, aim from the aim on', () => {
    expect([0.79, 0.8, 1.29, 1.3].map((value) => verdictOf({ ...figure, value }))).toEqual([
      'missed',
      'must',
      'must',
      'aim',
    ]);
  });

  it('turns round for an upper limit', () => {
    const upper = { ...figure, must: { atMost: 250 }, aim: { atMost: 200 } };
    expect([251, 250, 200].map((value) => verdictOf({ ...upper, value }))).toEqual(['missed', 'must', 'aim']);
  });

  it('misses a must that is no number', () => {
    expect(verdictOf({ ...figure, value: Number.NaN })).toBe('missed');
  });

  it('is none without a target', () => {
    expect(verdictOf({ bench: 'b', what: 'w', unit: '', value: 1 })).toBe('no target');
  });
});
