import type { Queryable } from '../drivers/database.js';
import { canonicalJson } from '../canonical-json.js';
import type { Fields } from '../item-form.js';

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
    'select sequence, snapshot from changes where ref = $1 and list = $2 and key = any($3::text[]) and snapshot is not null',
    [where.ref, where.list, keys],
  );
  if (rows.length === 0) return;
  await tx.query(
    `update changes c set snapshot = n.snapshot from unnest($2::int8[], $3::json[]) as n (sequence, snapshot)
     where c.ref = $1 and c.sequence = n.sequence`,
    [
      where.ref,
      rows.map(({ sequence }) => sequence),
      rows.map(({ snapshot }) => canonicalJson(rewrite(JSON.parse(snapshot) as Fields))),
    ],
  );
}
