import { messageOf } from '../base/errors.js';
import type { ProcessLog } from './log.js';

type WarnLog = Pick<ProcessLog, 'warn'>;

/**
 * Runs work at an interval until it is stopped. A tick is skipped while the last one still runs, because queued ticks
 * would run in a burst. A failure is logged, and the interval continues.
 * @returns a function that stops it and waits for work in progress
 */
export function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  failure: string,
  log: WarnLog,
): () => Promise<void> {
  let running: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    running ??= Promise.resolve()
      .then(work)
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, failure))
      .finally(() => {
        running = undefined;
      });
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Like `repeat`, but the returned function runs the work one last time. */
export function repeatToTheEnd(
  everyMs: number,
  work: () => Promise<unknown>,
  failure: string,
  log: WarnLog,
): () => Promise<void> {
  const stop = repeat(everyMs, work, failure, log);
  return async () => {
    await stop();
    await work().catch((error: unknown) => log.warn({ error: messageOf(error) }, failure));
  };
}
