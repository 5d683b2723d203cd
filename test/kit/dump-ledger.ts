import type { Database } from '../../ledger/drivers/database.js';

/** Everything that stands in the store, as one text: every row of every table. What must not stand there can be looked for. */
export async function dumpLedger(db: Database): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ row: string }>(`select t::text as row from ${name} t`);
    parts.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return parts.join('\n');
}
