import { sumOf } from './words.js';

/** Rows by outcome. */
type Counts = Readonly<Record<string, number>> & { readonly waiting: number; readonly cancelled: number };

/** Returns the number of rows with a final outcome. Rows that were left or cancelled have none. Pure. */
export function settledRows(counts: Counts): number {
  return sumOf(counts) - counts.waiting - counts.cancelled;
}

/** Whether rows with this outcome are those that a canary leaves for later; nobody has cancelled them. Pure. */
export function isLeftByCanary(
  outcome: string,
  { canary, state }: { readonly canary: number | null; readonly state: string },
): boolean {
  return outcome === 'cancelled' && canary !== null && state === 'done';
}
