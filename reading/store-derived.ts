import type { SeenItem } from '../ledger/seen-item.js';
import { deleteItems } from './delete-items.js';
import { compareItems } from '../ledger/compare-items.js';
import { type PageWrite, writeChanges } from '../ledger/write-changes.js';

/** The stored row of an item that is computed again. */
export interface StoredRow {
  key: string;
  seenAt: Date;
  /** Time of the query, by the database's clock. */
  now: Date;
  /** True for a tombstone. */
  gone: boolean;
}

/**
 * Stores the computed items of a derived list that differ from the stored ones, and a change for each. Requires the
 * lock on the pigeonhole's row.
 * @param stored all stored rows that the computation covers; a row without a computed item is deleted
 * @param rules the reading rules under which the items were computed
 * @returns whether anything changed
 */
export async function storeDerived(
  page: PageWrite,
  {
    items,
    stored,
    rules,
  }: { readonly items: readonly SeenItem[]; readonly stored: readonly StoredRow[]; readonly rules: string },
): Promise<boolean> {
  const { ledger, tx, scope } = page;
  // Later than the last write of each row, even if the clock was set back since then.
  const computedAt = new Date(
    Math.max(ledger.clock.nowMs(), ...stored.flatMap(({ seenAt, now }) => [seenAt.getTime() + 1, now.getTime()])),
  );
  const { differingItems } = await compareItems(ledger, tx, scope, { items, requestedAt: computedAt, rules });
  const { created, updated } = await writeChanges(page, differingItems, null);
  const kept = new Set(items.map(({ key }) => key));
  const obsolete = stored.filter(({ key, gone }) => !gone && !kept.has(key)).map(({ key }) => key);
  return created + updated + (await deleteItems(tx, scope, obsolete, computedAt)) > 0;
}
