import { allHandlersFinished, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Turn, WorkRequest } from '../work/turns.js';
import { pauseSignal, pollNowSignal, resumeSignal, stateQuery, sweepSignal, wakeSignal } from './messages.js';

/**
 * Turn, sleep, turn: the life of every long-running workflow here. A turn says when the next one is due; a signal
 * ends the sleep. Holds no state that the ledger lacks, so that a new run, or a new workflow under the same id, goes
 * on where this one was. An idle cycle costs one activity and one timer.
 * @returns `finished` when nothing names this work any more, `renew` when the history is long enough to start anew
 */
export async function runTurns(
  takeTurn: () => Promise<Turn>,
  handleRequest: (request: WorkRequest) => Promise<void>,
): Promise<'finished' | 'renew'> {
  let woken = false;
  let turns = 0;
  let last: Turn | null = null;
  const requests: WorkRequest[] = [];
  setHandler(wakeSignal, () => {
    woken = true;
  });
  setHandler(pauseSignal, () => {
    requests.push('pause');
  });
  setHandler(resumeSignal, () => {
    requests.push('resume');
  });
  setHandler(pollNowSignal, () => {
    requests.push('poll-now');
  });
  setHandler(sweepSignal, () => {
    requests.push('sweep');
  });
  setHandler(stateQuery, () => ({ turns, last }));

  while (!workflowInfo().continueAsNewSuggested) {
    for (let request = requests.shift(); request !== undefined; request = requests.shift()) {
      await handleRequest(request);
    }
    woken = false; // before the turn: what wakes while it runs has to lead to another one
    last = await takeTurn();
    turns += 1;
    if (last.state === 'finished') return 'finished';
    if (last.nextDueInMs > 0) await condition(() => woken || requests.length > 0, last.nextDueInMs);
  }
  for (let request = requests.shift(); request !== undefined; request = requests.shift()) await handleRequest(request);
  await condition(allHandlersFinished);
  return 'renew'; // a wake that comes now is not lost: the next run begins with a turn
}
