import type { ImportCounts, ImportOutcome, ImportView } from '../importing/desk/import-views.js';

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

export function countOf(counts: ImportCounts, outcome: ImportOutcome): number {
  return counts[outcome] ?? 0;
}

/** Name of each outcome, and what to do about it. */
export const outcomeWords: Readonly<Record<ImportOutcome, { readonly name: string; readonly todo: string | null }>> = {
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
