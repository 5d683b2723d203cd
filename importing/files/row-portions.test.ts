import { inPortions } from './row-portions.js';

/** Returns the row numbers of each portion. */
async function portionsOf(count: number, values: readonly string[]): Promise<number[][]> {
  async function* rows() {
    for (let index = 0; index < count; index += 1) yield { row: index + 2, values };
  }
  const portions: number[][] = [];
  for await (const portion of inPortions(rows())) portions.push(portion.map(({ row }) => row));
  return portions;
}

describe('a portion of rows', () => {
  it('is full at 1,000 rows, after which the next portion starts', async () => {
    const [full, rest, ...more] = await portionsOf(1_001, ['x']);
    expect([full?.length, rest, more]).toEqual([1_000, [1_002], []]);
  });

  it('is full earlier if rows are long, so that memory use does not grow with their length', async () => {
    const portions = await portionsOf(8, ['x'.repeat(600_000), '']);
    expect(portions.map(({ length }) => length)).toEqual([4, 4]);
  });
});
