import { chunksOf } from '../base/grouping.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { insertNextChanges, nextChanges, type StoredItem, storedItemColumns } from '../ledger/next-changes.js';
import { forgetDigests } from '../ledger/pages.js';
import { seenLater } from '../ledger/compare-items.js';
import { markSessionsGone } from '../ledger/streams-gone.js';
import { decidesAnonymity } from './stream-reading.js';
import { keepSnapshotSql } from '../ledger/snapshots.js';
import type { PageScope } from '../ledger/write-changes.js';

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
       where ref = $1 and list = $2 and key = n.key and payload is not null
         and not ${seenLater('seen_at', '$4')} limit 1) i order by i.key`,
    [scope.ref, scope.list, keys, at],
  );
  if (rows.length === 0) return 0;
  const deletions = nextChanges(scope, 'deleted', rows);
  scope.nextSequence += rows.length;
  const gone = rows.map(({ key }) => key);
  const values = gone.map(Number);
  await Promise.all([
    tx.query(keepSnapshotSql, [scope.ref, scope.list, gone, rows.map(({ lastSequence }) => lastSequence)]),
    tx.query(
      `insert into items (ref, list, key, stream_id, content_hash, rules, seen_at, revision, last_sequence)
       select $1, $2, n.key, i.stream_id, i.content_hash, i.rules, least($3, clock_timestamp()), n.revision, n.sequence
       from unnest($4::text[], $5::int4[], $6::int8[]) as n (key, revision, sequence)
         cross join lateral (select stream_id, content_hash, rules from items
           where ref = $1 and list = $2 and key = n.key limit 1) i
       on conflict (ref, list, key) do update set payload = null, expired = false, copies_hash = null,
         revision = excluded.revision, last_sequence = excluded.last_sequence, seen_at = excluded.seen_at`,
      [
        scope.ref,
        scope.list,
        at,
        gone,
        deletions.map(({ revision }) => revision),
        deletions.map(({ sequence }) => sequence),
      ],
    ),
    insertNextChanges(tx, scope.ref, deletions),
    tx.query('delete from missing where ref = $1 and list = $2 and key = any($3::text[])', [
      scope.ref,
      scope.list,
      gone,
    ]),
  ]);
  const range = values.every(Number.isSafeInteger) ? { low: Math.min(...values), high: Math.max(...values) } : null;
  await forgetDigests(tx, scope, range);
  if (scope.list === 'sessions') await markSessionsGone(tx, scope.ref, values);
  // A deleted session or Q&A question no longer allows questions to show their authors. Without the digests of their
  // pages, the next read compares the affected questions again and decides their visibility again.
  const affected = scope.list === 'sessions' ? null : range;
  if (decidesAnonymity.has(scope.list)) await forgetDigests(tx, { ref: scope.ref, list: 'questions' }, affected);
  return rows.length;
}
