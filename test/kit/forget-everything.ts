import type { Database } from '../../ledger/drivers/database.js';

/**
 * Empties the store, as if it were new; the ledger keeps its identity and keys. Tables that are already empty are
 * skipped, because emptying creates a new file for each table and index.
 */
export async function forgetEverything(db: Database): Promise<void> {
  const tables = await db.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not in ('ledger', 'migrations')
       and pg_relation_size(oid) > 0`,
  );
  if (tables.length === 0) return;
  await db.script(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity cascade`);
}
