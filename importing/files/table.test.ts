import { RowBatch } from './table.js';

describe('a batch of rows', () => {
  it('is full with 1,000 rows; then the next begins', () => {
    const batch = new RowBatch();
    const full = Array.from({ length: 1_001 }, (_row, index) => batch.add({ row: index + 2, values: ['x'] })?.length);
    expect([full.indexOf(1_000), full.filter((length) => length !== undefined)]).toEqual([999, [1_000]]);
    expect(batch.take().map(({ row }) => row)).toEqual([1_002]);
    expect(batch.take()).toEqual([]);
  });

  it('is full earlier where rows are long, so that memory does not grow with their length', () => {
    const batch = new RowBatch();
    const long = 'x'.repeat(600_000);
    const full = Array.from({ length: 8 }, (_row, index) => batch.add({ row: index + 2, values: [long, ''] })?.length);
    expect(full).toEqual([undefined, undefined, undefined, 4, undefined, undefined, undefined, 4]);
  });
});
