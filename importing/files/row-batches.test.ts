import { inBatches } from './row-batches.js';

/** Returns the row numbers of each batch. */
async function batchesOf(count: number, values: readonly string[]): Promise<number[][]> {
  async function* rows() {
    for (let index = 0; index < count; index += 1) yield { row: index + 2, values };
  }
  const batches: number[][] = [];
  for await (const batch of inBatches(rows())) batches.push(batch.map(({ row }) => row));
  return batches;
}

describe('a batch of rows', () => {
  it('is full at 1,000 rows, after which the next batch starts', async () => {
    const [full, rest, ...more] = await batchesOf(1_001, ['x']);
    expect([full?.length, rest, more]).toEqual([1_000, [1_002], []]);
  });

  it('is full earlier if rows are long, so that memory use does not grow with their length', async () => {
    const batches = await batchesOf(8, ['x'.repeat(600_000), '']);
    expect(batches.map(({ length }) => length)).toEqual([4, 4]);
  });
});
