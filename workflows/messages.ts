import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { CycleResult } from '../work/cycle-results.js';

/** Ends the current sleep. Has no payload: the work to do is in the ledger. */
export const wakeSignal = defineSignal('wake');
/** Requests that the worker ignores with a warning: operators send them to the API, which checks their rights. */
export const pauseSignal = defineSignal('pause');
export const resumeSignal = defineSignal('resume');
export const pollNowSignal = defineSignal('poll-now');
export const sweepSignal = defineSignal('sweep');

export interface WorkState {
  readonly turns: number;
  /** Null until the first cycle of this run has finished. */
  readonly last: CycleResult | null;
}

/** Returns the number of cycles of this run and the result of the last one. */
export const stateQuery = defineQuery<WorkState>('state');
