import { JumpingClocks } from '../test/kit/jumping-clocks.js';
import { confirmAfterMs, LeaseWatch } from './lease-watch.js';
import { Stopwatch } from '../base/stopwatch.js';

/** A lease taken just now, which counts how often it was asked for again. */
function heldLease(renew: () => Promise<void> = () => Promise.resolve()) {
  const clocks = new JumpingClocks();
  const asked = jest.fn(renew);
  return { clocks, asked, watch: new LeaseWatch(asked, clocks, new Stopwatch(clocks)) };
}

const jumps: [string, (clocks: JumpingClocks) => void][] = [
  [
    'the wall clock alone, as after a suspension that the monotonic one did not count',
    (c) => (c.wallAheadMs += 60_000),
  ],
  ['the monotonic clock alone, as where the wall clock was set back meanwhile', (c) => (c.monotonicAheadMs += 60_000)],
  ['the wall clock backwards', (c) => (c.wallAheadMs -= 60_000)],
];

describe('a lease', () => {
  it('is not asked for again while it was confirmed a moment ago', () => {
    const { watch, asked, clocks } = heldLease();
    clocks.wallAheadMs += confirmAfterMs - 1000;
    clocks.monotonicAheadMs += confirmAfterMs - 1000;
    expect(watch.confirm()).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
  });

  it.each(jumps)('is confirmed before the next call after a jump of %s', async (_, jump) => {
    const { watch, asked, clocks } = heldLease();
    jump(clocks);
    await Promise.all([watch.confirm(), watch.confirm()]);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(watch.confirm()).toBeUndefined();
  });

  it.each(jumps)('lets no call be made when it was lost during a jump of %s', async (_, jump) => {
    const { watch, clocks } = heldLease(() => Promise.reject(new Error('taken over')));
    jump(clocks);
    await expect(watch.confirm()).rejects.toThrow('taken over');
    await expect(watch.confirm()).rejects.toThrow('taken over');
  });

  it('is not confirmed by an answer that was on its way through a pause', async () => {
    const { watch, clocks } = heldLease(async () => void (clocks.wallAheadMs += 60_000));
    clocks.wallAheadMs += 60_000;
    await expect(watch.confirm()).rejects.toMatchObject({ name: 'LeaseNotConfirmed' });
  });

  it('that nobody has confirmed yet is asked for before the first call', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const watch = new LeaseWatch(asked);
    await watch.confirm();
    expect(asked).toHaveBeenCalledTimes(1);
  });
});
