/**
 * The tables whose dead rows are worth a vacuum, by the same rule as PostgreSQL's autovacuum with half its threshold,
 * or that were never analyzed. Names come quoted.
 */
export const tablesToVacuum = `
  select quote_ident(schemaname) || '.' || quote_ident(relname) as name
  from pg_stat_user_tables
  where n_dead_tup > 50 + 0.1 * n_live_tup or (last_analyze is null and n_mod_since_analyze > 50)
  order by n_dead_tup`;
