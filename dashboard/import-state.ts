import type { ImportCounts, ImportOutcome, ImportView } from '../importing/desk/import-views.js';

/** Rows that wait for nothing any more. Pure. */
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

export function countOf(counts: ImportCounts, outcome: ImportOutcome): number {
  return counts[outcome] ?? 0;
}

/** Names of outcomes, and what to do about them. */
export const outcomeWords: Readonly<Record<ImportOutcome, { readonly name: string; readonly todo: string | null }>> = {
  created: { name: 'created', todo: null },
  confirmed: { name: 'created, as was confirmed', todo: null },
  existing: { name: 'already there', todo: null },
  conflict: { name: 'there with other data', todo: 'change it in the dashboard of the service, if your list is right' },
  rejected: { name: 'refused by the service', todo: 'correct the rows and import the file again' },
  invalid: { name: 'not sent', todo: 'correct the rows and import the file again' },
  unknown: { name: 'not known', todo: 'look for them in the dashboard of the service' },
  waiting: { name: 'to go', todo: null },
  cancelled: { name: 'cancelled', todo: null },
};
