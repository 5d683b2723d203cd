import { columnValue, type ColumnType } from './column.js';

describe('the value of a column', () => {
  it.each<[ColumnType, unknown, unknown]>([
    ['bigint', 9001, 9001],
    ['bigint', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['boolean', false, false],
    ['text', '', ''],
    ['timestamp with time zone', '2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['timestamp with time zone', '2026-11-21T09:30:00.123+0900', '2026-11-21T00:30:00.123Z'],
    ['date', '2024-02-29', '2024-02-29'],
    ['jsonb', { url: 'x' }, { url: 'x' }],
  ])('of type %s for %j is %j', (type, value, expected) => expect(columnValue(type, value)).toEqual(expected));

  it.each<[ColumnType, unknown]>([
    ['bigint', '9001'],
    ['bigint', 1.5],
    ['bigint', 2 ** 60],
    ['boolean', 'false'],
    ['text', 7],
    ['timestamp with time zone', '2026-11-21T09:30:00'], // another instant on each server
    ['timestamp with time zone', '0000-01-01T00:00:00Z'],
    ['timestamp with time zone', '2026-13-01T00:00:00Z'],
    ['timestamp with time zone', 1_764_000_000],
    ['date', '2026-02-30'],
    ['date', '2026-11-21T00:00:00Z'],
    ['jsonb', undefined],
    ['text', undefined],
  ])('of type %s is null for %j, which stands in raw alone', (type, value) => {
    expect(columnValue(type, value)).toBeNull();
  });
});
