import { setMaxListeners } from 'node:events';
/** A call that we ended, and not whom it asked. It may have had its effect. */
export class CutShort extends Error {
  override readonly name = 'CutShort';

  /** @param reason `stopped`: the caller's signal was aborted; `late`: its time was up */
  constructor(readonly reason: 'stopped' | 'late') {
    super(reason === 'stopped' ? 'stopped before the answer' : 'no answer in time');
  }
}

/**
 * Makes a call that ends at the latest after `timeoutMs`, or soon after the caller's signal is aborted; with one that
 * was aborted before it is called all the same, so that it is for the call to send nothing then. Not `AbortSignal.any`:
 * in Node 20 each call leaves something behind on a signal that lives long.
 * @param call has to end when its signal is aborted
 * @throws {CutShort} when it failed and either had come; else what the call throws
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
 * Runs work under a signal of its own that follows the caller's: one listener on a signal that may live long, however
 * many requests listen to the own one, and nothing that outlives the work. Not `AbortSignal.any`: in Node 20 each call
 * leaves something behind on a signal that lives long.
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
