import { canonicalJson } from '../canonical-json.js';
import { dropContentsOf, dropContentsOfChanges } from '../attempts.js';
import type { Queryable } from '../drivers/database.js';
import type { Fields } from '../item-form.js';

/**
 * For each row of `n (key, sequence)`: copies the payload of the item with this key in list `$2` into the change with
 * this sequence, as its snapshot. Looks each change up by primary key and upserts it, because for `update … from` the
 * planner may read all changes of the pigeonhole (decision 0038).
 */
export const keepSnapshotSql = `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind,
  found_at, snapshot)
  select c.pigeonhole_number, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, i.payload
  from unnest($3::text[], $4::int8[]) as n (key, sequence)
    cross join lateral (select case when expired then null else payload end as payload from items
      where pigeonhole_number = $1 and list = $2 and key = n.key limit 1) i
    cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = n.sequence limit 1) c
  where c.kind <> 'deleted' and c.snapshot is null
  on conflict (pigeonhole_number, sequence) do update set snapshot = excluded.snapshot`;

/**
 * Copies the payload of each item into the change with its last sequence, before the payload is replaced.
 * @param sequences one per key
 */
export async function keepSnapshots(
  tx: Queryable,
  where: { readonly pigeonholeNumber: number; readonly list: string },
  keys: readonly string[],
  sequences: readonly number[],
): Promise<void> {
  if (keys.length > 0) await tx.query(keepSnapshotSql, [where.pigeonholeNumber, where.list, keys, sequences]);
}

/**
 * Rewrites the snapshots of earlier revisions without the data that must no longer be stored: the person's identity if
 * the item is now anonymous, and fields that are now dropped. The ids of the changes do not change. What was sent of the
 * items, with that data, is removed from the log of attempts.
 */
export async function rewriteSnapshots(
  tx: Queryable,
  where: { pigeonholeNumber: number; list: string },
  keys: readonly string[],
  rewrite: (fields: Fields) => Fields,
): Promise<void> {
  if (keys.length === 0) return;
  await dropContentsOf(tx, where, keys);
  const rows = await tx.query<{ sequence: number; snapshot: string }>(
    `select c.sequence, c.snapshot from unnest($3::text[]) as n (key) cross join lateral (select sequence, snapshot
       from changes where pigeonhole_number = $1 and list = $2 and key = n.key and snapshot is not null offset 0) c`,
    [where.pigeonholeNumber, where.list, keys],
  );
  if (rows.length === 0) return;
  await tx.query(
    `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, snapshot)
     select c.pigeonhole_number, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, n.snapshot
     from unnest($2::int8[], $3::json[]) as n (sequence, snapshot)
       cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = n.sequence limit 1) c
     on conflict (pigeonhole_number, sequence) do update set snapshot = excluded.snapshot`,
    [
      where.pigeonholeNumber,
      rows.map(({ sequence }) => sequence),
      rows.map(({ snapshot }) => canonicalJson(rewrite(JSON.parse(snapshot) as Fields))),
    ],
  );
}

/** Deletes the snapshots of changes, and what was sent of them from the log of attempts. */
export async function dropSnapshots(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<void> {
  await tx.query('update changes set snapshot = null where pigeonhole_number = $1 and sequence = any($2::int8[])', [
    pigeonholeNumber,
    sequences,
  ]);
  await dropContentsOfChanges(tx, pigeonholeNumber, sequences);
}

/** Deletes the snapshots of all changes of these items, and what was sent of them from the log of attempts. */
export async function dropSnapshotsOf(
  tx: Queryable,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  keys: readonly string[],
): Promise<void> {
  await tx.query(
    `update changes set snapshot = null where pigeonhole_number = $1 and list = $2 and key = any($3::text[])
       and snapshot is not null`,
    [pigeonholeNumber, list, keys],
  );
  await dropContentsOf(tx, { pigeonholeNumber, list }, keys);
}
