import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { control } from './control.js';
import type { Stage } from './stage.js';

/**
 * Number of actions that took effect. A planned action has no effect if its process is down or its list is not read.
 */
export interface Happened {
  /** Ready processes that were stopped for the whole time and continued. */
  pauses: number;
  /** Jumps that a running worker noticed. */
  clockJumps: number;
  /** Answers that were empty or almost empty. */
  shortAnswers: number;
  /** Lists that were short at least twice in a row. */
  shortAgain: number;
  /** Answers to filtered requests that ignored the filter. */
  ignoredFilters: number;
}

export function nothingHappened(): Happened {
  return { pauses: 0, clockJumps: 0, shortAnswers: 0, shortAgain: 0, ignoredFilters: 0 };
}

/** Adds the answers that rules of the sandbox changed. Call it before the rules are removed. */
export async function countFaults(happened: Happened, ids: readonly number[], sandboxUrl: string): Promise<void> {
  type Active = { id: number; kind: string; fired: number };
  const { faults } = await control<{ faults: Active[] }>(sandboxUrl, 'GET', 'faults');
  for (const { id, kind, fired } of faults) {
    if (!ids.includes(id)) continue;
    if (kind === 'ignoreFilters') happened.ignoredFilters += fired;
    if (kind !== 'shortList') continue;
    happened.shortAnswers += fired;
    happened.shortAgain += fired > 1 ? 1 : 0;
  }
}

/** Returns the number of clock jumps that the worker reported (wrong-clock.cjs). */
export function countClockJumps({ folder, worker }: Stage): number {
  if (worker === undefined) return 0;
  return readFileSync(join(folder, 'worker.log'), 'utf8').split('the wall clock jumps by').length - 1;
}
