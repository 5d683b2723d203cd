import { setImmediate } from 'node:timers/promises';

/** After so much computing in one go, timers and sockets of the process get their turn. */
const longestWithoutPauseMs = 20;

let last: Promise<unknown> = Promise.resolve();
let pausedAtMs = performance.now();

/**
 * Evaluations one after another, whoever asks. JSONata never waits for anything, so evaluations that are begun together
 * end no sooner than in turn, and thousands of them would keep the process from answering until all have ended.
 */
export function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const mine = last.then(async () => {
    if (performance.now() - pausedAtMs > longestWithoutPauseMs) {
      await setImmediate();
      pausedAtMs = performance.now();
    }
    return await work();
  });
  last = mine.catch(() => undefined);
  return mine;
}
