import { MappingError } from './mapping-error.js';
import { dayValue, instantValue, numberValue, textValue, truthValue } from './property-value.js';

const key = 'crm.records[0].properties.score';
const readers = { textValue, numberValue, truthValue, dayValue, instantValue };

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
    ['truthValue', 'Yes', true],
    ['truthValue', 0, false],
    ['truthValue', ' FALSE ', false],
    ['truthValue', '', null],
    ['dayValue', '2026-11-21', '2026-11-21'],
    ['dayValue', '', null],
    ['instantValue', '2026-11-21T09:30:00Z', Date.UTC(2026, 10, 21, 9, 30)],
    ['instantValue', '2026-11-21T10:30:00.000+01:00', Date.UTC(2026, 10, 21, 9, 30)],
    ['instantValue', 1_700_000_000_000, 1_700_000_000_000],
    ['instantValue', ' ', null],
  ])('as %s takes %p for %p', (reader, value, expected) => {
    expect(readers[reader](value, key)).toBe(expected);
  });

  it.each(Object.entries(readers))('as %s is left alone by undefined and cleared by null', (_, read) => {
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
    ['truthValue', 'maybe', 'not-true-or-false'],
    ['truthValue', 2, 'not-true-or-false'],
    ['dayValue', '2026-02-30', 'not-a-day'],
    ['dayValue', '2026-11-21T09:30:00Z', 'not-a-day'],
    ['dayValue', 1_700_000_000_000, 'not-a-day'],
    ['instantValue', '2026-11-21', 'not-an-instant'],
    ['instantValue', 'May 1', 'not-an-instant'],
    ['instantValue', '2026-02-30T00:00:00Z', 'not-an-instant'],
  ])('as %s is not guessed from %p', (reader, value, code) => {
    const read = (): unknown => readers[reader](value, key);
    expect(read).toThrow(MappingError);
    expect(read).toThrow(expect.objectContaining({ causeCode: `mapping: ${key}: ${code}` }));
  });

  it('is not quoted when it is refused', () => {
    expect(() => numberValue('maria.lopez@example.com', key)).toThrow(`${key} gave a text: it takes a number`);
  });
});
