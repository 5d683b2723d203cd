import { getEventListeners } from 'node:events';
import { CutShort, withinDeadline, underOwnSignal } from './within-deadline.js';

const longMs = 60_000;
const listenersOf = ({ signal }: AbortController): number => getEventListeners(signal, 'abort').length;

/** A call that is never answered, and that fails when it is aborted. */
function unanswered(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new Error('aborted'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail);
  });
}

describe('a call within a deadline', () => {
  let caller: AbortController;
  beforeEach(() => (caller = new AbortController()));
  afterEach(() => expect(listenersOf(caller)).toBe(0));

  it('returns its result', async () => {
    expect(await withinDeadline(caller.signal, longMs, () => Promise.resolve('answer'))).toBe('answer');
  });

  it('fails as late when its time has passed', async () => {
    await expect(withinDeadline(caller.signal, 1, unanswered)).rejects.toEqual(new CutShort('late'));
  });

  it('is stopped together with its caller', async () => {
    const call = withinDeadline(caller.signal, longMs, unanswered);
    expect(listenersOf(caller)).toBe(1);
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: 'CutShort', reason: 'stopped' });
  });

  it('is stopped immediately if its caller was stopped before', async () => {
    caller.abort();
    await expect(withinDeadline(caller.signal, longMs, unanswered)).rejects.toMatchObject({ reason: 'stopped' });
  });

  it('returns an answer that arrived even if its caller was stopped', async () => {
    const call = withinDeadline(caller.signal, longMs, () => {
      caller.abort();
      return Promise.resolve('answer');
    });
    expect(await call).toBe('answer');
  });

  it('fails with its own error', async () => {
    const failure = new Error('of its own');
    await expect(withinDeadline(caller.signal, longMs, () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

describe('work with its own signal', () => {
  it('is stopped together with its caller, and returns its result', async () => {
    const caller = new AbortController();
    const seen = await underOwnSignal(caller.signal, (own) => {
      const before = own.aborted;
      caller.abort();
      return Promise.resolve([before, own.aborted]);
    });
    expect(seen).toEqual([false, true]);
  });

  it('starts stopped if its caller was stopped before', async () => {
    expect(await underOwnSignal(AbortSignal.abort(), (own) => Promise.resolve(own.aborted))).toBe(true);
  });

  it('adds one listener to its caller, and removes it afterwards', async () => {
    const caller = new AbortController();
    const own = await underOwnSignal(caller.signal, (signal) => {
      for (let request = 0; request < 20; request += 1) signal.addEventListener('abort', () => undefined);
      expect(listenersOf(caller)).toBe(1);
      return Promise.resolve(signal);
    });
    expect([listenersOf(caller), caller.signal.aborted, own.aborted]).toEqual([0, false, true]);
  });

  it('fails with its own error, and removes its listener', async () => {
    const caller = new AbortController();
    const failure = new Error('of its own');
    await expect(underOwnSignal(caller.signal, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(listenersOf(caller)).toBe(0);
  });
});
