import type { Client } from '@temporalio/client';
import { withWallClock } from '../test/kit/wrong-clock.js';
import { WorkerWatch } from './worker-watch.js';

const tenMinutesMs = 600_000;

/** Returns a Temporal task queue and a process that watches it. */
function queue({ temporalAheadMs = 0 } = {}) {
  let elapsedMs = 0;
  const polls = new Map<string, number>();
  const temporalNow = (): number => Date.UTC(2026, 10, 21) + temporalAheadMs + elapsedMs;
  const describeTaskQueue = async () => ({
    pollers: [...polls].map(([identity, at]) => ({
      identity,
      lastAccessTime: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 },
    })),
  });
  const client = { options: { namespace: 'default' }, workflowService: { describeTaskQueue } } as unknown as Client;
  return {
    watch: new WorkerWatch(client, 'pigeonpost', () => elapsedMs),
    poll: (worker: string) => void polls.set(worker, temporalNow()),
    forget: (worker: string) => void polls.delete(worker),
    pass: (ms: number) => void (elapsedMs += ms),
  };
}

describe('a process without a worker of its own', () => {
  it.each([tenMinutesMs, -tenMinutesMs])('finds the workers while its clock is off by %s ms', async (aheadMs) => {
    const { watch, poll, pass } = queue();
    await withWallClock(aheadMs, async () => {
      for (let minute = 0; minute < 5; minute += 1) {
        poll('one');
        expect(await watch.look()).toBeNull();
        pass(60_000);
        expect(await watch.look()).toBeNull();
      }
    });
  });

  it.each([tenMinutesMs, -tenMinutesMs])(
    "says that no worker runs 90 s after the last poll, with Temporal's clock off by %s ms",
    async (temporalAheadMs) => {
      const { watch, poll, pass } = queue({ temporalAheadMs });
      poll('one');
      expect(await watch.look()).toBeNull();
      pass(89_000);
      expect(await watch.look()).toBeNull();
      pass(1000);
      expect(await watch.look()).toContain('no worker has asked Temporal for work on task queue "pigeonpost"');
      poll('two');
      expect(await watch.look()).toBeNull();
    },
  );

  it('says so immediately if Temporal lists no worker', async () => {
    const { watch, poll, forget } = queue();
    expect(await watch.look()).toContain('no worker');
    poll('one');
    expect(await watch.look()).toBeNull();
    forget('one');
    expect(await watch.look()).toContain('no worker');
  });
});
