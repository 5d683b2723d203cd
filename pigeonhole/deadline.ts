import type { Ending } from './transport-failure.js';

/** Ends a request when its time is up or its caller says so, and remembers which of the two came first. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly ending: () => Ending | undefined;
  /** Must be called when the request has ended: a caller's signal may outlive thousands of requests. */
  readonly clear: () => void;
}

/** Not AbortSignal.any: in Node.js 20 each use leaves something behind on a signal that lives long. */
export function openDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ending: Ending | undefined;
  const end = (by: Ending): void => {
    ending ??= by;
    controller.abort();
  };
  const onCallerAbort = (): void => end('caller');
  const timer = setTimeout(() => end('deadline'), timeoutMs);
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    ending: () => ending,
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCallerAbort);
    },
  };
}
