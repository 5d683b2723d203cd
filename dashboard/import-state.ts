import type { ImportCounts, ImportView } from '../importing/desk/import-views.js';
import type { RowOutcome } from '../importing/row-states.js';

/** Returns the number of rows with a final outcome. Pure. */
export function rowsDone({ rows, counts }: Pick<ImportView, 'rows' | 'counts'>): number {
  return rows - countOf(counts, 'waiting');
}

/** Returns the number of rows that the operator must check. Pure. */
export function needsAPerson(counts: ImportCounts): number {
  return (['conflict', 'rejected', 'invalid', 'unknown'] as const).reduce(
    (sum, outcome) => sum + countOf(counts, outcome),
    0,
  );
}

export function countOf(counts: ImportCounts, outcome: RowOutcome): number {
  return counts[outcome] ?? 0;
}

/** Name of each outcome, and what to do about it. */
export const outcomeWords: Readonly<Record<RowOutcome, { readonly name: string; readonly todo: string | null }>> = {
  created: { name: 'created', todo: null },
  confirmed: { name: 'created, confirmed after a lost response', todo: null },
  existing: { name: 'already registered', todo: null },
  conflict: {
    name: 'exists with other data',
    todo: 'if your file is right, edit the registrant in the dashboard of the service',
  },
  rejected: { name: 'refused by the service', todo: 'correct the rows and import the file again' },
  invalid: { name: 'not sent', todo: 'correct the rows and import the file again' },
  unknown: { name: 'unknown', todo: "search for these registrants in the service's dashboard" },
  waiting: { name: 'waiting', todo: null },
  cancelled: { name: 'cancelled', todo: null },
};

/** Number of settled rows at an instant. */
export interface Progress {
  readonly atMs: number;
  readonly done: number;
}

/**
 * Period over which the rate is measured: long enough that one slow answer changes it little, and short enough to show
 * a new rate soon.
 */
const windowMs = 30_000;

/** Adds a measurement and drops those older than 30 s. Pure. */
export function withProgress(seen: readonly Progress[], now: Progress): readonly Progress[] {
  return [...seen.filter(({ atMs }) => now.atMs - atMs <= windowMs), now];
}

/** Returns rows per second over the last 30 s; null if the measurements span less than 1 s. Pure. */
export function rowsPerSecond(seen: readonly Progress[]): number | null {
  const first = seen[0];
  const last = seen.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < 1000) return null;
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
}

/** Returns the seconds until the remaining rows are done; null without a positive rate. Pure. */
export function secondsLeft(left: number, perSecond: number | null): number | null {
  return perSecond === null || perSecond <= 0 ? null : left / perSecond;
}
