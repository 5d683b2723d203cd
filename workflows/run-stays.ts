import type { StayResult } from '../cycles/cycle-results.js';

/** Stays in one run. Each adds six events to the history, which a worker that starts has to replay. */
const staysInRun = 50;

/**
 * Runs one stay after another, each in an activity. All state is in the ledger, so a stay may end at any time and the
 * next one may run in any process.
 * @returns `finished` if nothing is left to stay with, `renew` after 50 stays, to continue as new
 */
export async function runStays(stay: () => Promise<StayResult>): Promise<'finished' | 'renew'> {
  for (let stays = 0; stays < staysInRun; stays += 1) {
    const { state } = await stay();
    if (state === 'finished') return 'finished';
  }
  return 'renew';
}
