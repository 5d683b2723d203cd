import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import type { SeenItem } from '../ledger/seen-item.js';
import { deleteItems } from './delete-items.js';
import { compareItems } from '../ledger/compare-items.js';
import { type PageScope, writeChanges } from '../ledger/write-changes.js';

/** A row that the ledger has of what is made anew. */
export interface StoredRow {
  key: string;
  seen_at: Date;
  /** By the database's clock. */
  now: Date;
  /** A tombstone. */
  gone: boolean;
}

/**
 * Stores what was made anew of a derived list, where it is other than before, with changes. The pigeonhole's row is
 * locked.
 * @param stored all rows of what was looked at: those that `items` has no more are deleted
 * @param rules the reading rules under which the items are made
 * @returns whether anything was other than before
 */
export async function storeDerived(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  {
    items,
    stored,
    rules,
  }: { readonly items: readonly SeenItem[]; readonly stored: readonly StoredRow[]; readonly rules: string },
): Promise<boolean> {
  // Not before any row was last written, whatever the clock has done since.
  const madeAt = new Date(
    Math.max(ledger.clock.nowMs(), ...stored.flatMap((row) => [row.seen_at.getTime() + 1, row.now.getTime()])),
  );
  const { placed } = await compareItems(ledger, tx, scope, { items, requestedAt: madeAt, rules });
  const { created, updated } = await writeChanges(ledger, tx, scope, placed, null);
  const kept = new Set(items.map(({ key }) => key));
  const left = stored.filter(({ key, gone }) => !gone && !kept.has(key)).map(({ key }) => key);
  return created + updated + (await deleteItems(tx, scope, left, madeAt)) > 0;
}
