import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy } from '../base/grouping.js';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import type { Database } from './drivers/database.js';

const databases = useBothDatabases({ isEmpty: true });
const file = join(__dirname, 'schema.sql');
const head =
  '-- The schema after all migrations, for reading; it is never run. Comments on the columns are in migrations/.\n-- A test compares this file with the migrations; UPDATE_SCHEMA=1 rewrites it.\n\n';

describe.each(kinds)('the schema on %s', (kind) => {
  it('matches schema.sql after the last migration', async () => {
    await openLedger(databases.of(kind), testKey);
    const schema = head + (await describeSchema(databases.of(kind)));
    if (process.env['UPDATE_SCHEMA'] === '1') writeFileSync(file, schema);
    expect(readFileSync(file, 'utf8')).toBe(schema);
  });
});

/** Returns the schema of a store as text: tables with columns and constraints, then indexes. */
async function describeSchema(db: Database): Promise<string> {
  const columns = await db.query<{ table: string; line: string }>(
    `select c.relname as table, '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || case when a.attnotnull then ' not null' else '' end
         || case when a.attidentity <> '' then ' generated always as identity'
                 when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end as line
     from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relkind = 'r' order by c.relname, a.attnum`,
  );
  const constraints = await db.query<{ table: string; line: string }>(
    `select c.relname as table, '  ' || pg_get_constraintdef(k.oid) as line
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and k.contype in ('p', 'u', 'f', 'c') -- newer servers list "not null" here, too
     order by c.relname, k.contype desc, k.conname`,
  );
  const indexes = await db.query<{ line: string }>(
    `select pg_get_indexdef(i.indexrelid) || ';' as line
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
     order by c.relname`,
  );
  const lines = groupBy([...columns, ...constraints], ({ table }) => table);
  const tables = [...lines].map(
    ([table, own]) => `create table ${table} (\n${own.map(({ line }) => line).join(',\n')}\n);`,
  );
  return `${[...tables, indexes.map(({ line }) => line.replaceAll('public.', '')).join('\n')].join('\n\n')}\n`;
}
