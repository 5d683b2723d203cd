import { JumpingClocks } from '../test/kit/jumping-clocks.js';
import type { Dispatcher } from 'undici';
import { confirmAfterMs, isNotConfirmed, LeaseWatch, onlyWhileHeld, Stopwatch, whileHeld } from './lease.js';

/** Creates a lease that was just acquired. `renewed` counts its renewals. */
function heldLease(renew: () => Promise<void> = () => Promise.resolve()) {
  const clocks = new JumpingClocks();
  const renewed = jest.fn(renew);
  return { clocks, renewed, watch: new LeaseWatch(renewed, clocks, new Stopwatch(clocks)) };
}

const jumps: [string, (clocks: JumpingClocks) => void][] = [
  [
    'only the wall clock, as after a suspension that the monotonic clock did not count',
    (c) => (c.wallAheadMs += 60_000),
  ],
  ['only the monotonic clock, as when the wall clock was set back meanwhile', (c) => (c.monotonicAheadMs += 60_000)],
  ['the wall clock backwards', (c) => (c.wallAheadMs -= 60_000)],
];

describe('a lease', () => {
  it('is not renewed while its last confirmation is recent', () => {
    const { watch, renewed, clocks } = heldLease();
    clocks.wallAheadMs += confirmAfterMs - 1000;
    clocks.monotonicAheadMs += confirmAfterMs - 1000;
    expect(watch.confirm()).toBeUndefined();
    expect(renewed).not.toHaveBeenCalled();
  });

  it.each(jumps)('is confirmed before the next call after a jump of %s', async (_, jump) => {
    const { watch, renewed, clocks } = heldLease();
    jump(clocks);
    await Promise.all([watch.confirm(), watch.confirm()]);
    expect(renewed).toHaveBeenCalledTimes(1);
    expect(watch.confirm()).toBeUndefined();
  });

  it.each(jumps)('prevents every call if it was lost during a jump of %s', async (_, jump) => {
    const { watch, clocks } = heldLease(() => Promise.reject(new Error('taken over')));
    jump(clocks);
    await expect(watch.confirm()).rejects.toThrow('taken over');
    await expect(watch.confirm()).rejects.toThrow('taken over');
  });

  it('is not confirmed by a response that arrived after a suspension', async () => {
    const { watch, clocks } = heldLease(async () => void (clocks.wallAheadMs += 60_000));
    clocks.wallAheadMs += 60_000;
    await expect(watch.confirm()).rejects.toMatchObject({ name: 'LeaseNotConfirmed' });
  });

  it('that was never confirmed is confirmed before the first call', async () => {
    const renewed = jest.fn(() => Promise.resolve());
    const watch = new LeaseWatch(renewed, new JumpingClocks());
    await watch.confirm();
    expect(renewed).toHaveBeenCalledTimes(1);
  });
});

describe('a request under a lease', () => {
  it('fails if the lease is confirmed again and again, instead of waiting for ever', async () => {
    const dispatched: unknown[] = [];
    const confirm = jest.fn(() => Promise.resolve());
    const failed = await whileHeld(
      confirm,
      async () =>
        await new Promise((resolve) => {
          const handler: Dispatcher.DispatchHandler = { onResponseError: (_, error) => resolve(error) };
          const dispatch = onlyWhileHeld((request) => dispatched.push(request) > 0);
          dispatch({ path: '/', method: 'GET' }, handler);
        }),
    );
    expect(failed).toMatchObject({ message: expect.stringContaining('could still not start') as string });
    expect(isNotConfirmed(failed)).toBe(true);
    expect(dispatched).toEqual([]);
    expect(confirm.mock.calls.length).toBeLessThan(30);
  });
});
