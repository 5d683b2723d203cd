import type { ProcessLog } from './log.js';
import { messageOf } from '../operations/orchestration.js';

/**
 * Does a piece of work at an interval until it is stopped. A tick that comes while the last one is not done is left out: ticks
 * that had queued up would run in a burst, as if the time between them had passed. A failure is logged, and the next tick comes.
 * @returns stops it, and waits for what is being done
 */
export function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  failure: string,
  log: Pick<ProcessLog, 'warn'>,
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
