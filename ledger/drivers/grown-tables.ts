/**
 * Tables that are at least four times as large as when they were last analyzed, or have a hundred pages (some thousand rows)
 * and never were. Statements that are hot do not depend on statistics (decision 0038); all others plan better with them, and
 * a server's autovacuum comes by only once a minute. Names come quoted.
 */
export const grownTables = `
  select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind = 'r' and pg_relation_size(c.oid) > 100 * 8192
    and pg_relation_size(c.oid) > 4 * 8192 * c.relpages::int8
  order by pg_relation_size(c.oid)`;

/** A tenth of the usual sample: enough for the order of magnitude, and the embedded store is held for a moment only. */
export const smallSample = 'set local default_statistics_target = 10';
