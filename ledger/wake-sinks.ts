import type { Queryable } from './drivers/database.js';

/**
 * Raises the wake flags in id order (two pages never wait for each other) and returns the names of sinks whose flag was
 * down. Call it last before a commit. It also locks flags that are up: a sink lowers its flag before it reads, and has to
 * wait for this commit, or it would neither see the change nor receive a signal for it.
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
