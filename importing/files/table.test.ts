import { RowBatch } from './table.js';

describe('a batch of rows', () => {
  it('is full at 1,000 rows, after which the next batch starts', () => {
    const batch = new RowBatch();
    const full = Array.from({ length: 1_001 }, (_row, index) => batch.add({ row: index + 2, values: ['x'] })?.length);
    expect([full.indexOf(1_000), full.filter((length) => length !== undefined)]).toEqual([999, [1_000]]);
    expect(batch.take().map(({ row }) => row)).toEqual([1_002]);
    expect(batch.take()).toEqual([]);
  });

  it('is full earlier if rows are long, so that memory use does not grow with their length', () => {
    const batch = new RowBatch();
    const long = 'x'.repeat(600_000);
    const full = Array.from({ length: 8 }, (_row, index) => batch.add({ row: index + 2, values: [long, ''] })?.length);
    expect(full).toEqual([undefined, undefined, undefined, 4, undefined, undefined, undefined, 4]);
  });
});
