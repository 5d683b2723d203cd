import { sendInParts } from './send-in-parts.js';

/** Sends records to a destination that refuses every call that contains a bad one. */
async function send(count: number, isBad: (n: number) => boolean, mayContinue?: (calls: number) => boolean) {
  const calls: number[][] = [];
  const [accepted, refused] = [new Set<number>(), new Set<number>()];
  const { left, refusesAll } = await sendInParts(
    [Array.from({ length: count }, (_, n) => n)],
    async (part) => {
      calls.push([...part]);
      if (!part.some(isBad)) {
        for (const n of part) accepted.add(n);
        return { accepted: true, again: [] };
      }
      if (part.length > 1) return { accepted: false, again: part };
      refused.add(part[0]!);
      return { accepted: false, again: [] };
    },
    () => mayContinue?.(calls.length) ?? true,
  );
  return { calls, accepted, refused: [...refused], left, refusesAll };
}

describe('a batch that is refused as a whole', () => {
  it.each([0, 1, 30, 49, 50, 98, 99])(
    'costs at most 15 calls of a hundred records if number %d is bad',
    async (bad) => {
      const { calls, accepted, refused, left } = await send(100, (n) => n === bad);
      expect([refused, accepted.size, left]).toEqual([[bad], 99, []]);
      expect(calls.length).toBeLessThanOrEqual(15);
    },
  );

  it('of which the first records are bad delivers the others', async () => {
    const { accepted, refused, left } = await send(100, (n) => n < 7);
    expect([refused.toSorted((a, b) => a - b), accepted.size, left]).toEqual([[0, 1, 2, 3, 4, 5, 6], 93, []]);
  });

  it('of which only the middle record is good delivers it', async () => {
    const { accepted } = await send(9, (n) => n !== 6);
    expect([...accepted]).toEqual([6]);
  });

  it('ends after five refused records if the destination accepts nothing', async () => {
    const { calls, refused, left, refusesAll } = await send(100, () => true);
    expect([refused, left.length, refusesAll]).toEqual([[0, 1, 2, 99, 51], 95, true]);
    expect(calls.length).toBeLessThanOrEqual(15);
  });

  it('ends after sixty refused calls if every other record is bad', async () => {
    const { calls, accepted, left, refusesAll } = await send(200, (n) => n % 2 === 0);
    expect(refusesAll).toBe(true);
    expect(calls.length).toBeLessThanOrEqual(120);
    expect(accepted.size + left.length).toBeGreaterThan(150);
  });

  it('of five or fewer records decides each of them, even if all are bad', async () => {
    expect(await send(5, () => true)).toMatchObject({ refused: [0, 1, 2, 4, 3], left: [], refusesAll: false });
  });
});

it('a batch ends before the next call once it may not continue', async () => {
  const { calls, left, refusesAll } = await send(
    8,
    (n) => n === 0,
    (made) => made < 2,
  );
  expect([calls.length, left, refusesAll]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7], false]);
});

it('a failure that no record causes ends the calls', async () => {
  const calls: number[][] = [];
  const parts = [[1, 2], [3, 4], [5]];
  const { left } = await sendInParts(parts, async (part) => {
    calls.push([...part]);
    return part.includes(3) ? 'over' : { accepted: true, again: [] };
  });
  expect([calls, left]).toEqual([parts.slice(0, 2), [3, 4, 5]]);
});

it('records of which a call decides only some are sent again without the others', async () => {
  const calls: number[][] = [];
  await sendInParts([[1, 2, 3, 4, 5]], async (part) => {
    calls.push([...part]);
    return { accepted: true, again: part.length > 2 ? part.filter((n) => n > 2) : [] };
  });
  expect(calls).toEqual([[1, 2, 3, 4, 5], [3, 4], [5]]);
});
