import { MappingError } from './mapping-error.js';
import { numberValue, textValue } from './property-value.js';

const key = 'crm.records[0].properties.score';
const readers = { textValue, numberValue };

describe('the value of a property', () => {
  it.each<[keyof typeof readers, unknown, unknown]>([
    ['textValue', 'a', 'a'],
    ['textValue', '', ''],
    ['textValue', 7.5, '7.5'],
    ['textValue', false, 'false'],
    ['textValue', ['a', 1, true], 'a;1;true'],
    ['numberValue', 7, 7],
    ['numberValue', ' 7.50 ', 7.5],
    ['numberValue', '-1e3', -1000],
    ['numberValue', '', null],
  ])('by %s converts %p to %p', (reader, value, expected) => {
    expect(readers[reader](value, key)).toBe(expected);
  });

  it.each(Object.entries(readers))('by %s is omitted for undefined and cleared for null', (_, read) => {
    expect(read(undefined, key)).toBeUndefined();
    expect(read(null, key)).toBeNull();
  });

  it.each<[keyof typeof readers, unknown, string]>([
    ['textValue', { a: 1 }, 'not-a-text'],
    ['textValue', ['a', { b: 1 }], 'not-a-text'],
    ['numberValue', '1,5', 'not-a-number'],
    ['numberValue', '0x10', 'not-a-number'],
    ['numberValue', true, 'not-a-number'],
    ['numberValue', '1e999', 'not-a-number'],
  ])('by %s rejects %p instead of guessing', (reader, value, code) => {
    const read = (): unknown => readers[reader](value, key);
    expect(read).toThrow(MappingError);
    expect(read).toThrow(expect.objectContaining({ causeCode: `mapping: ${key}: ${code}` }));
  });

  it('is not quoted if it is rejected', () => {
    expect(() => numberValue('maria.lopez@example.com', key)).toThrow(
      `${key} returned a text, but the sink needs a number`,
    );
  });
});
