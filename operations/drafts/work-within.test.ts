import { workWithin } from './work-within.js';

/** Works on a hundred items, each of which takes a time. */
async function results(msOfItem: number, limitMs: number): Promise<{ done: number; parts: number; tookMs: number }> {
  let tookMs = 0;
  let parts = 0;
  const items = Array.from({ length: 100 }, (_, at) => at);
  const work = async (part: readonly number[]): Promise<readonly number[]> => {
    tookMs += part.length * msOfItem;
    parts += 1;
    return part;
  };
  const done = await workWithin(items, work, () => tookMs >= limitMs);
  expect(done).toEqual(items.slice(0, done.length));
  return { done: done.length, parts, tookMs };
}

describe('work within a time', () => {
  it('is done for all items if they are quick, in few parts', async () => {
    expect(await results(1, 1500)).toEqual({ done: 100, parts: 7, tookMs: 100 });
  });

  it('ends after the first item that takes the whole time', async () => {
    expect(await results(2000, 1500)).toEqual({ done: 1, parts: 1, tookMs: 2000 });
  });

  it('takes at most about three times as long as it may', async () => {
    for (const msOfItem of [10, 50, 100, 400, 1499]) {
      expect((await results(msOfItem, 1500)).tookMs).toBeLessThan(4500);
    }
  });

  it('is not started after the time', async () => {
    expect(await results(1, 0)).toEqual({ done: 0, parts: 0, tookMs: 0 });
  });
});
