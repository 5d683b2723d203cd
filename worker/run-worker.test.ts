import { GuardedWorker } from './run-worker.js';

describe('a worker', () => {
  it('ends its stays before the SDK stops it, which would cancel hundreds of them too slowly', async () => {
    const stopping = new AbortController();
    let hadEnded: boolean | undefined;
    const run = async () => ({
      ended: new Promise<void>(() => undefined),
      inFlight: 200,
      isPolling: () => true,
      stop: async () => void (hadEnded = stopping.signal.aborted),
    });
    const nothing = (): void => undefined;
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const worker = new GuardedWorker({ refusal: null }, { run, stopping, onFailure: nothing, log });
    await worker.follow();
    await worker.stop();
    expect(hadEnded).toBe(true);
  });
});
