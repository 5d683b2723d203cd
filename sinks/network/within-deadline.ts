import { setMaxListeners } from 'node:events';
/** A call that pigeonpost stopped. It may have had its effect. */
export class CutShort extends Error {
  override readonly name = 'CutShort';

  /** @param reason `stopped`: the caller's signal was aborted; `late`: the deadline passed */
  constructor(readonly reason: 'stopped' | 'late') {
    super(reason === 'stopped' ? 'stopped before the answer' : 'no answer in time');
  }
}

/**
 * Runs a call that is aborted after `timeoutMs` or when the caller's signal is aborted. The call runs even if the
 * signal was aborted before: it must send nothing then. Not `AbortSignal.any`: in Node 20 each call leaks memory on a
 * long-lived signal.
 * @param call has to end when its signal is aborted
 * @throws {CutShort} when it failed after either; otherwise what the call throws
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
 * Runs work under a signal of its own that follows the caller's. The caller's signal, which may live long, gets one
 * listener however many requests listen to the own one, and keeps nothing after the work. Not `AbortSignal.any`: in
 * Node 20 each call leaks memory on a long-lived signal.
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
