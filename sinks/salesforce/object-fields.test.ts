import { conformValue } from './object-fields.js';
import type { Value } from '../records/decide-values.js';

describe('a value for a field', () => {
  it.each<[Value, string, Value | undefined]>([
    ['ACME', 'string', 'ACME'],
    [42, 'string', '42'],
    [42, 'phone', '42'],
    [true, 'picklist', 'true'],
    [null, 'string', null],
    [42, 'double', 42],
    ['42.5', 'currency', 42.5],
    ['many', 'int', undefined],
    [' ', 'int', undefined],
    [true, 'double', undefined],
    ['true', 'boolean', true],
    [0, 'boolean', false],
    [null, 'boolean', false],
    ['yes', 'boolean', undefined],
    ['2026-11-21', 'date', '2026-11-21'],
    ['2026-02-30', 'date', undefined],
    ['2026-11-21T23:30:00Z', 'date', undefined],
    ['2026-11-21T23:30:00Z', 'datetime', '2026-11-21T23:30:00Z'],
    ['2026-11-21T23:30:00.000+09:00', 'datetime', '2026-11-21T23:30:00.000+09:00'],
    ['2026-11-21', 'datetime', undefined],
    ['2026-02-30T09:30:00Z', 'datetime', undefined],
    ['\u200bmailto:Ada@example.com\u00a0', 'email', 'Ada@example.com'],
    ['n/a', 'email', 'n/a'],
    ['09:30:00', 'time', '09:30:00'],
    ['Main Street 1', 'address', undefined],
  ])('%j of type %s becomes %j', (value, type, expected) => {
    expect(conformValue(value, { type })).toEqual(expected);
  });
});
