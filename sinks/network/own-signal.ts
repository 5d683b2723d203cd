import { setMaxListeners } from 'node:events';

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
