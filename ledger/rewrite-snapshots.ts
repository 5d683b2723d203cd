import type { Queryable } from './drivers/database.js';
import { canonicalJson } from './canonical-json.js';
import type { Fields } from './item-form.js';

/**
 * Takes out of the stored earlier revisions of items what may no longer stand there: the person, once an item is
 * anonymous, and fields that are dropped since. Their ids stay what they are.
 */
export async function rewriteSnapshots(
  tx: Queryable,
  where: { ref: number; list: string },
  keys: readonly string[],
  rewrite: (fields: Fields) => Fields,
): Promise<void> {
  const rows = await tx.query<{ sequence: number; snapshot: string }>(
    `select c.sequence, c.snapshot from unnest($3::text[]) as n (key) cross join lateral (select sequence, snapshot
       from changes where ref = $1 and list = $2 and key = n.key and snapshot is not null offset 0) c`,
    [where.ref, where.list, keys],
  );
  if (rows.length === 0) return;
  await tx.query(
    `insert into changes (ref, sequence, id, list, key, revision, kind, found_at, snapshot)
     select c.ref, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, n.snapshot
     from unnest($2::int8[], $3::json[]) as n (sequence, snapshot)
       cross join lateral (select * from changes where ref = $1 and sequence = n.sequence limit 1) c
     on conflict (ref, sequence) do update set snapshot = excluded.snapshot`,
    [
      where.ref,
      rows.map(({ sequence }) => sequence),
      rows.map(({ snapshot }) => canonicalJson(rewrite(JSON.parse(snapshot) as Fields))),
    ],
  );
}
