import { getEventListeners } from 'node:events';
import { underOwnSignal } from './within-deadline.js';


describe('work under a signal of its own', () => {
  it('is stopped with its caller, and gives what it comes to', async () => {
    const caller = new AbortController();
    const seen = await underOwnSignal(caller.signal, (own) => {
      const before = own.aborted;
      caller.abort();
      return Promise.resolve([before, own.aborted]);
    });
    expect(seen).toEqual([false, true]);
  });

  it('begins stopped when its caller has been', async () => {
    expect(await underOwnSignal(AbortSignal.abort(), (own) => Promise.resolve(own.aborted))).toBe(true);
  });

  it('listens to its caller once, and leaves nothing behind', async () => {
    const caller = new AbortController();
    const own = await underOwnSignal(caller.signal, (signal) => {
      for (let request = 0; request < 20; request += 1) signal.addEventListener('abort', () => undefined);
      expect(listenersOf(caller)).toBe(1);
      return Promise.resolve(signal);
    });
    expect([listenersOf(caller), caller.signal.aborted, own.aborted]).toEqual([0, false, true]);
  });

  it('fails with its own error, and leaves nothing behind', async () => {
    const caller = new AbortController();
    const failure = new Error('of its own');
    await expect(underOwnSignal(caller.signal, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(listenersOf(caller)).toBe(0);
  });
});
