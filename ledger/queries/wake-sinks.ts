import type { Queryable } from '../drivers/database.js';

/** Raises the flags in id order (two pages never wait for each other); names only those that were down. */
export async function wakeSinks(tx: Queryable, sinkIds: readonly number[]): Promise<string[]> {
  if (sinkIds.length === 0) return [];
  const rows = await tx.query<{ name: string }>(
    `update sinks set wake = true
     where id in (select id from sinks where id = any($1::int[]) and not wake order by id for update) returning name`,
    [sinkIds],
  );
  return rows.map((row) => row.name);
}
