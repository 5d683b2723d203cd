import type { Database } from '../../ledger/drivers/database.js';

/** Empties the store, as if it were new; the ledger keeps its identity and keys. */
export async function forgetEverything(db: Database): Promise<void> {
  const tables = await db.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('ledger', 'migrations')`,
  );
  if (tables.length === 0) return; // not opened yet
  await db.script(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity cascade`);
}
