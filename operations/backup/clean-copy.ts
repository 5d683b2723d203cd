import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';

/**
 * Takes out of a copied store what the database has only marked as dead: rows that were erased or overwritten, and the
 * write-ahead log that wrote them. Every table is rewritten, in the copy and in a thread of its own, so the store that was
 * copied goes on meanwhile.
 * @param folder with the copy in `postgres/`
 */
export async function cleanCopy(folder: string): Promise<void> {
  const db = await openEmbedded({ folder });
  try {
    const tables = await db.query<{ name: string }>(
      'select quote_ident(tablename) as name from pg_tables where schemaname = current_schema() order by 1',
    );
    // Statistics are samples of values, so they are drawn again, too.
    await db.script(`vacuum (full, analyze) ${tables.map(({ name }) => name).join(', ')}`);
    await db.script('vacuum full pg_catalog.pg_statistic');
    const log = join(folder, 'postgres', 'pg_wal');
    const [current] = await db.query<{ name: string }>('select pg_walfile_name(pg_current_wal_lsn()) as name');
    // Segments that were recycled for later use hold what they held before.
    for (const name of await readdir(log)) {
      // oxlint-disable-next-line no-await-in-loop -- a handful
      if (/^[0-9A-F]{24}$/.test(name) && name > current!.name) await rm(join(log, name));
    }
    await db.query('set wal_recycle = off');
    await db.query('select pg_switch_wal()');
    await db.script('checkpoint');
  } finally {
    await db.close();
  }
  await rm(join(folder, 'lock'), { force: true });
}
