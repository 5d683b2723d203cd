import { isStorable, storableJson } from './storable-json.js';

describe('JSON for PostgreSQL', () => {
  it.each([
    ['plain "text" \\ with / everything\n\t', 'plain "text" \\ with / everything\n\t'],
    ['a\0b', 'a\ufffdb'],
    ['\\u0000 as it is written', '\\u0000 as it is written'],
    ['\\\0', '\\\ufffd'],
    ['half a pair: \ud83c', 'half a pair: \ufffd'],
    ['the other half: \udf88', 'the other half: \ufffd'],
    ['a whole pair: 🎈', 'a whole pair: 🎈'],
  ])('of %j reads as %j', (text, expected) => {
    expect(JSON.parse(storableJson({ [text]: text }))).toEqual({ [expected]: expected });
  });
});

describe('a key', () => {
  it.each([
    ['9001', true],
    ['🎈#2', true],
    ['a\0', false],
    ['\ud83c', false],
  ])('%j is storable: %s', (key, storable) => expect(isStorable(key)).toBe(storable));
});
