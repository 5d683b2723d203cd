import { SharedRead } from './deciding-lists.js';

/** A read that a test ends. */
function heldRead() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const shared = new SharedRead(async (pages) => {
    begun.push(pages);
    await new Promise<void>((resolve) => ends.push(resolve));
  });
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  };
  return { shared, begun, turn, endNext: async () => (ends.shift()!(), await turn()) };
}

describe('a read of a list that decides who may be named', () => {
  it('serves all pages that wait before it starts, and none that arrives later', async () => {
    const { shared, begun, turn, endNext } = heldRead();
    const done: string[] = [];
    const wait = (name: string): void => void shared.fromNowOn(1).then(() => done.push(name));
    wait('a');
    wait('b');
    await turn();
    wait('c');
    await turn();
    expect([begun, done]).toEqual([[2], []]);
    await endNext();
    expect([begun, done]).toEqual([
      [2, 1],
      ['a', 'b'],
    ]);
    await endNext();
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('never runs beside the usual read of the list, and starts after it', async () => {
    const { shared, begun, turn, endNext } = heldRead();
    let end: (() => void) | undefined;
    const usual = shared.alone(async () => await new Promise<void>((resolve) => (end = resolve)));
    const waiting = shared.fromNowOn(1);
    await turn();
    expect(begun).toEqual([]);
    end!();
    await usual;
    await turn();
    expect(begun).toEqual([1]);
    await endNext();
    await waiting;
  });

  it('fails for the pages that wait for it, and not for later ones', async () => {
    let fails = true;
    const shared = new SharedRead(async () => {
      if (fails) throw new Error('store');
    });
    await expect(shared.fromNowOn(1)).rejects.toThrow('store');
    fails = false;
    await shared.fromNowOn(1);
  });
});
