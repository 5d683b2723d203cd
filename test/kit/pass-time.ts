import type { Database } from '../../ledger/drivers/database.js';

/** Tables of the store itself, which are not changed. */
const timeless: readonly string[] = ['migrations', 'ledger', 'configurations', 'audit'];

const columns = new WeakMap<Database, Promise<ReadonlyMap<string, readonly string[]>>>();

/** Simulates the passing of time: moves every instant in the ledger into the past. */
export async function passTime(db: Database, ms: number): Promise<void> {
  if (ms === 0) return;
  if (!columns.has(db)) columns.set(db, instantsOf(db));
  const tables = await columns.get(db)!;
  const statements = [...tables].map(([table, names]) => {
    const earlier = names.map((name) => `${name} = ${name} - interval '${ms} milliseconds'`);
    return `update ${table} set ${earlier.join(', ')};`;
  });
  await db.script(statements.join('\n'));
}

async function instantsOf(db: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db.query<{ table: string; names: string }>(
    `select c.table_name as "table", string_agg(c.column_name, ' ') as names
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and c.data_type = 'timestamp with time zone' and t.table_type = 'BASE TABLE'
     group by c.table_name order by 1`,
  );
  return new Map(rows.filter(({ table }) => !timeless.includes(table)).map((row) => [row.table, row.names.split(' ')]));
}
