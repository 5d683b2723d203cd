import type { Database } from './database.js';

/** Analyzes one table per transaction, so that other work can run in between. Skips a table that another session analyzes. */
export async function analyzeGrownTables(db: Pick<Database, 'query' | 'transaction'>): Promise<void> {
  for (const { name } of await db.query<{ name: string }>(grownTables)) {
    await db.transaction(async (tx) => {
      await tx.script(smallSample);
      await tx.script(`analyze (skip_locked) ${name}`);
    });
  }
}

/**
 * Tables that are at least four times as large as when they were last analyzed, or that have a hundred pages (some
 * thousand rows) and were never analyzed. Frequent statements do not depend on statistics (decision 0038); all others
 * plan better with them, and a server's autovacuum runs only once a minute. Names are quoted.
 */
const grownTables = `
  select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind = 'r' and pg_relation_size(c.oid) > 100 * 8192
    and pg_relation_size(c.oid) > 4 * 8192 * c.relpages::int8
  order by pg_relation_size(c.oid)`;

/** A tenth of the usual sample: enough for the order of magnitude, and the embedded store is held for a moment only. */
const smallSample = 'set local default_statistics_target = 10';

/**
 * The tables whose dead rows are worth a vacuum, by the same rule as PostgreSQL's autovacuum with half its threshold,
 * or that were never analyzed. Names come quoted.
 */
export const tablesToVacuum = `
  select quote_ident(schemaname) || '.' || quote_ident(relname) as name
  from pg_stat_user_tables
  where n_dead_tup > 50 + 0.1 * n_live_tup or (last_analyze is null and n_mod_since_analyze > 50)
  order by n_dead_tup`;
