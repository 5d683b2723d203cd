import { chunksOf } from '../base/grouping.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { insertNextChanges, nextChanges, type StoredItem, storedItemColumns } from '../ledger/items/next-changes.js';
import { noteNoLongerMissing } from '../ledger/missing.js';
import { forgetDigests } from '../ledger/pages.js';
import { seenLater } from '../ledger/items/compare-items.js';
import { markSessionsGone } from '../ledger/streams-gone.js';
import { decidingLists } from '../base/lists.js';
import { storeTombstones } from '../ledger/items/remove-items.js';
import { keepSnapshots } from '../ledger/items/snapshots.js';
import type { PageScope } from '../ledger/items/write-changes.js';

/**
 * Turns items into tombstones. A tombstone keeps the key and the revision number, so that numbering continues if the
 * item reappears. The payload moves to the item's last change before the deletion, because some sinks may not have
 * received that change yet. Requires the lock on the pigeonhole's row.
 * @param at instant of the request that proved the deletion; a page requested earlier does not restore the items
 * @returns the number of deleted items
 */
export async function deleteItems(tx: Queryable, scope: PageScope, keys: readonly string[], at: Date): Promise<number> {
  let deleted = 0;
  // A confirmed hold may contain most of a list, which is too much for one statement.
  for (const slice of chunksOf(keys, keysAtOnce)) deleted += await deleteSlice(tx, scope, slice, at);
  return deleted;
}

/** Maximum number of items in one statement. */
const keysAtOnce = 1000;

async function deleteSlice(tx: Queryable, scope: PageScope, keys: readonly string[], at: Date): Promise<number> {
  const rows = await tx.query<StoredItem>(
    `select i.* from (select distinct key from unnest($3::text[]) as n (key)) n cross join lateral (
       select ${storedItemColumns} from items
       where pigeonhole_number = $1 and list = $2 and key = n.key and payload is not null
         and not ${seenLater('seen_at', '$4')} limit 1) i order by i.key`,
    [scope.pigeonholeNumber, scope.list, keys, at],
  );
  if (rows.length === 0) return 0;
  const deletions = nextChanges(scope, 'deleted', rows);
  scope.nextSequence += rows.length;
  const gone = rows.map(({ key }) => key);
  const values = gone.map(Number);
  await Promise.all([
    keepSnapshots(
      tx,
      scope,
      gone,
      rows.map(({ lastSequence }) => lastSequence),
    ),
    storeTombstones(tx, scope, deletions, at),
    insertNextChanges(tx, scope.pigeonholeNumber, deletions),
    noteNoLongerMissing(tx, scope.pigeonholeNumber, rows),
  ]);
  const range = values.every(Number.isSafeInteger) ? { low: Math.min(...values), high: Math.max(...values) } : null;
  await forgetDigests(tx, scope, range);
  if (scope.list === 'sessions') await markSessionsGone(tx, scope.pigeonholeNumber, values);
  // A deleted session or Q&A question no longer allows questions to show their authors. Without the digests of their
  // pages, the next read compares the affected questions again and decides their visibility again.
  const affected = scope.list === 'sessions' ? null : range;
  if (decidingLists.has(scope.list))
    await forgetDigests(tx, { pigeonholeNumber: scope.pigeonholeNumber, list: 'questions' }, affected);
  return rows.length;
}
