import type { Database } from './database.js';

/**
 * Analyzes one table per transaction, so that other work can run in between. Skips a table that another session
 * analyzes.
 */
export async function analyzeGrownTables(db: Pick<Database, 'query' | 'transaction'>): Promise<void> {
  for (const { name } of await db.query<{ name: string }>(grownTables)) {
    await db.transaction(async (tx) => {
      await tx.script(smallSample);
      await tx.script(`analyze (skip_locked) ${name}`);
    });
  }
}

/**
 * SQL query for tables of more than 100 pages (some thousand rows) that were never analyzed or are more than four times
 * as large as when they were last analyzed. Frequent statements do not depend on statistics (decision 0038), but all
 * others get better plans with them, and a server's autovacuum runs only once a minute. The names are quoted.
 */
const grownTables = `
  select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind = 'r' and pg_relation_size(c.oid) > 100 * 8192
    and pg_relation_size(c.oid) > 4 * 8192 * c.relpages::int8
  order by pg_relation_size(c.oid)`;

/**
 * A tenth of PostgreSQL's default sample. It shows the order of magnitude, and blocks the embedded store only for a
 * moment.
 */
const smallSample = 'set local default_statistics_target = 10';

/**
 * SQL query for tables that need a vacuum: those with many dead rows (the rule of PostgreSQL's autovacuum with half its
 * threshold), or that were never analyzed. The names are quoted.
 */
export const tablesToVacuum = `
  select quote_ident(schemaname) || '.' || quote_ident(relname) as name
  from pg_stat_user_tables
  where n_dead_tup > 50 + 0.1 * n_live_tup or (last_analyze is null and n_mod_since_analyze > 50)
  order by n_dead_tup`;
