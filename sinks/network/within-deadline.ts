import { setMaxListeners } from 'node:events';
/** Thrown if pigeonpost stopped a call before the answer. The call may have taken effect. */
export class CutShort extends Error {
  override readonly name = 'CutShort';

  /** @param reason `stopped`: the caller's signal was aborted; `late`: the deadline passed */
  constructor(readonly reason: 'stopped' | 'late') {
    super(reason === 'stopped' ? 'stopped before the answer' : 'no answer in time');
  }
}

/**
 * Runs a call, and aborts it after `timeoutMs` or when the caller's signal is aborted. If the signal was aborted
 * before, the call still runs, but with an aborted signal, so that it sends nothing. Does not use `AbortSignal.any`,
 * because in Node 20 each use on a long-lived signal leaks memory.
 * @param call must end when its signal is aborted
 * @throws {CutShort} if the call fails after it was aborted; otherwise whatever the call throws
 */
export async function withinDeadline<Result>(
  signal: AbortSignal,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const end = (): void => own.abort();
  const timer = setTimeout(end, timeoutMs);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await call(own.signal);
  } catch (error) {
    if (signal.aborted) throw new CutShort('stopped');
    if (own.signal.aborted) throw new CutShort('late');
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/**
 * Runs work with a new signal, which is aborted when the caller's signal is. The caller's signal may be long-lived. It
 * gets only one listener, however many requests listen to the new signal, and the listener is removed after the work.
 * Does not use `AbortSignal.any`, because in Node 20 each use on a long-lived signal leaks memory.
 */
export async function underOwnSignal<Result>(
  signal: AbortSignal,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const stop = (): void => own.abort();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
