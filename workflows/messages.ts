import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Turn } from '../work/turns.js';

/** There is something to do: ends the present sleep. Carries nothing; what is to be done stands in the ledger. */
export const wakeSignal = defineSignal('wake');
/** A person's wishes. Written to the ledger by an activity; the workflow itself remembers none of them. */
export const pauseSignal = defineSignal('pause');
export const resumeSignal = defineSignal('resume');
export const pollNowSignal = defineSignal('poll-now');
export const sweepSignal = defineSignal('sweep');

export interface WorkState {
  readonly turns: number;
  /** Null before the first turn of this run has ended. */
  readonly last: Turn | null;
}

/** How the work stands: the counts of this run, and its last turn. */
export const stateQuery = defineQuery<WorkState>('state');
