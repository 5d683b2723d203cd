import * as fc from 'fast-check';
import { editDistance, nearestWord } from './nearest-word.js';

const words = ['workspace', 'pigeonholes', 'lists', 'every', 'deletions', 'drop', 'sinks', 'new', 'live'];

describe('the nearest word', () => {
  it.each([
    ['evry', 'every'],
    ['lvie', 'live'],
    ['sink', 'sinks'],
    ['Workspace', 'workspace'],
    ['pigeon-holes', 'pigeonholes'],
    ['deletion', 'deletions'],
  ])('to %s is %s', (found, meant) => {
    expect(nearestWord(found, words)).toBe(meant);
  });

  it.each(['colour', 'abc', 'x', ''])('to %j does not exist', (found) => {
    expect(nearestWord(found, words)).toBeUndefined();
  });
});

describe('the edit distance', () => {
  it.each([
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
    ['', 'abc', 3],
  ])('of %j and %j is %d', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it('is 0 only for equal words, symmetric, and at most the length of the longer word', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});
