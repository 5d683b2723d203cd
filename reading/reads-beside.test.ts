import { createDeferred } from '../base/deferred.js';
import { SlowLists } from '../requests/slow-lists.js';
import { type Read, ReadsBeside } from './reads-beside.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface HeldRead extends Read {
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
  readonly progress: () => void;
}

function heldRead(streamId: number, isNew = false): HeldRead {
  const held = createDeferred<Error | null>();
  let onProgress: () => void = () => undefined;
  return {
    streamId,
    isNew,
    finish: () => held.resolve(null),
    fail: held.resolve,
    progress: () => onProgress(),
    async run(progress) {
      onProgress = progress;
      const error = await held.promise;
      if (error !== null) throw error;
    },
  };
}

function setUp() {
  const slowLists = new SlowLists(() => performance.now());
  const beside = new ReadsBeside('acme', slowLists);
  const start = (read: Read): { isWaiting: boolean } => {
    const state = { isWaiting: true };
    const done = (): void => void (state.isWaiting = false);
    beside.run(read).then(done, done);
    return state;
  };
  return { slowLists, beside, start };
}

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('the read of a list', () => {
  it('holds up the cycle while its pages arrive, however long it takes', async () => {
    const { beside, start } = setUp();
    const read = heldRead(1);
    const state = start(read);
    for (let page = 0; page < 10; page += 1) {
      await pass(1900);
      expect(state.isWaiting).toBe(true);
      read.progress();
    }
    read.finish();
    await pass(0);
    expect([state.isWaiting, beside.isEmpty]).toEqual([false, true]);
  });

  it.each([
    ['a list that was read before', false, 2000],
    ['a new list', true, 10_000],
  ])('continues beside the others if no page arrives for a while: %s', async (_, isNew, patienceMs) => {
    const { beside, start } = setUp();
    const read = heldRead(1, isNew);
    const state = start(read);
    await pass(patienceMs - 1);
    expect(state.isWaiting).toBe(true);
    await pass(1);
    expect([state.isWaiting, beside.isEmpty, beside.skips(1)]).toEqual([false, false, true]);
    read.finish();
    await beside.all();
    expect([beside.isEmpty, beside.skips(1)]).toEqual([true, false]);
  });

  it('does not hold up the cycle at all while the list is known to be slow, and does again once it is not', async () => {
    const { beside, slowLists, start } = setUp();
    slowLists.started('acme', 1)();
    const read = heldRead(1);
    const state = start(read);
    await pass(0);
    expect(state.isWaiting).toBe(false);
    read.finish();
    await beside.all();
    expect(slowLists.isSlow(1)).toBe(false); // its pages arrived in time
  });

  it('is forgotten to be slow after 5 min', async () => {
    const { slowLists } = setUp();
    slowLists.started('acme', 1)();
    await pass(5 * 60_000 - 1);
    expect(slowLists.isSlow(1)).toBe(true);
    await pass(1);
    expect(slowLists.isSlow(1)).toBe(false);
  });

  it('holds up the cycle if four slow lists of the workspace are being read, so that connections stay free', async () => {
    const { beside, slowLists, start } = setUp();
    const reads = [1, 2, 3, 4, 5].map((id) => heldRead(id));
    const states = reads.map((read) => start(read));
    await pass(2000);
    expect(states.map(({ isWaiting }) => isWaiting)).toEqual([false, false, false, false, true]);
    const other = new ReadsBeside('acme', slowLists);
    slowLists.started('globex', 9)();
    expect([other.skips(9), new ReadsBeside('globex', slowLists).skips(9)]).toEqual([true, false]);
    for (const read of reads) read.finish();
    await beside.all();
    expect(other.skips(9)).toBe(false);
  });

  it('ends a wait for the next round, or the time does', async () => {
    const { beside, start } = setUp();
    const read = heldRead(1);
    start(read);
    await pass(2000);
    let isOver = false;
    const wait = async (): Promise<void> => {
      isOver = false;
      await beside.next(500);
      isOver = true;
    };
    const first = wait();
    await pass(499);
    expect(isOver).toBe(false);
    await pass(1);
    await first;
    const second = wait();
    read.finish();
    await second;
    expect(isOver).toBe(true);
  });

  it('reports its error even if it continued beside the others', async () => {
    const { beside, start } = setUp();
    const read = heldRead(1);
    start(read);
    await pass(2000);
    read.fail(new Error('stale'));
    await beside.all();
    expect(() => beside.throwFailure()).toThrow('stale');
  });

  it('reports its error to the cycle that waits for it', async () => {
    const { beside } = setUp();
    const read = heldRead(1);
    const run = beside.run(read);
    read.fail(new Error('stale'));
    await expect(run).rejects.toThrow('stale');
    expect(() => beside.throwFailure()).not.toThrow();
  });
});
