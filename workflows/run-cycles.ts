import {
  allHandlersFinished,
  condition,
  setHandler,
  workflowInfo,
  defineQuery,
  defineSignal,
} from '@temporalio/workflow';
import type { CycleResult } from '../cycles/cycle-results.js';

/** Ends the current sleep. Has no payload: the work to do is in the ledger. */
const wakeSignal = defineSignal('wake');

interface WorkState {
  readonly cycles: number;
  /** Null until the first cycle of this run has finished. */
  readonly last: CycleResult | null;
}

/** Returns the number of cycles of this run and the result of the last one. */
const stateQuery = defineQuery<WorkState>('state');

/**
 * History length, in events, from which a run continues as new. A worker that starts replays the histories of all
 * running workflows, and Temporal allows 10 s for each: on a busy machine, 4,096 events took 8.5 s.
 */
const longHistory = 500;

/** Whether the history is so long that the run should continue as new. Temporal suggests it from 4 MB. */
function isLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength >= longHistory;
}

/**
 * Alternates between a cycle and a sleep. The result of a cycle holds the time until the next one is due; a signal ends
 * the sleep early. All state is in the ledger, so a new run, or a new workflow with the same id, continues where this
 * one stopped. An idle cycle costs one activity and one timer.
 * @returns `finished` if the work is done or no longer configured, `renew` if the history is long enough to continue as
 * new
 */
export async function runCycles(runCycle: () => Promise<CycleResult>): Promise<'finished' | 'renew'> {
  let woken = false;
  let cycles = 0;
  let last: CycleResult | null = null;
  setHandler(wakeSignal, () => {
    woken = true;
  });
  setHandler(stateQuery, () => ({ cycles, last }));

  while (!isLong()) {
    woken = false; // before the cycle: a wake during the cycle must cause another one
    last = await runCycle();
    cycles += 1;
    if (last.state === 'finished') return 'finished';
    if (last.nextDueInMs > 0) await condition(() => woken, last.nextDueInMs);
  }
  await condition(allHandlersFinished);
  return 'renew'; // a wake received now is not lost: the next run starts with a cycle
}
