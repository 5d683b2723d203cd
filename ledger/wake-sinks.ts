import type { Queryable } from './drivers/database.js';

/**
 * Raises the flags in id order (two pages never wait for each other); names only those that were down. The last thing
 * before a commit. A flag that is up is locked as well: a sink's turn lowers it first, and has to wait for what is
 * about to be committed, or it would neither see this change nor be told of it.
 */
export async function wakeSinks(tx: Queryable, sinkIds: readonly number[]): Promise<string[]> {
  if (sinkIds.length === 0) return [];
  const rows = await tx.query<{ name: string }>(
    `with flags as materialized (
       select id, wake from sinks where id = any($1::int[]) order by id for no key update)
     update sinks s set wake = true from flags f where s.id = f.id and not f.wake returning s.name`,
    [sinkIds],
  );
  return rows.map((row) => row.name);
}
