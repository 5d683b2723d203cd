import type { StoreError } from './store-error.js';
import type { SqlValue } from './sql-values.js';

/** Runs statements on the store or in one of its transactions. */
export interface Queryable {
  /**
   * Runs one statement with parameters `$1`, `$2`… and returns its rows. The text must be constant, because each
   * connection prepares it once; anything that varies must be a parameter. `resultTypes` defines the types of the results.
   * @throws {StoreError}
   */
  query<Row extends object = Record<string, unknown>>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * Runs a text without parameters that may hold several statements, such as a migration. Outside a transaction, the
   * statements of one script run in a transaction of their own.
   * @throws {StoreError}
   */
  script(sql: string): Promise<void>;
}

/** A connection on which statements and transactions run one after the other. */
export type Session = Pick<Database, 'query' | 'script' | 'transaction'>;

export interface TransactionOptions {
  /**
   * True if the statements that `work` sends before its first `await` only read and lock. They are then sent together
   * with `begin`, without waiting for its answer. If `begin` is refused, they run outside a transaction, where their
   * locks have no effect.
   */
  readonly beginsByLocking?: boolean;
}

/**
 * The store: PostgreSQL, either a server or the engine that is compiled into this process. Both have the same SQL
 * dialect and behavior; the contract test in this folder runs on both.
 */
export interface Database extends Queryable {
  readonly kind: 'embedded' | 'postgres';
  /**
   * Runs `work` in one transaction (read committed). Commits when `work` returns. Rolls back if it throws, or leaves
   * the transaction idle for longer than `idleInTransactionTimeoutMs`. Retries nothing. If `work` returns without
   * waiting for its last statements, the commit follows them, and the first failure among them is thrown.
   *
   * Inside `work`, use only `tx`. A statement on the store itself is refused: it would wait for the transaction to end,
   * which waits for the statement (the embedded store has only one connection).
   * @throws {StoreError}, or any error that `work` throws
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` on a separate connection without time limits. For migrations, which take as long as the size of the
   * tables requires. The embedded store has no time limits, so it uses its own connection.
   * @throws {StoreError}, or any error that `work` throws
   */
  withoutLimits<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Does the housekeeping that a PostgreSQL server does automatically (autovacuum). Call it about once an hour. It
   * blocks an embedded store briefly for each table that needs it, and does nothing on a server.
   */
  maintain(): Promise<void>;
  /**
   * Analyzes tables that have grown a lot since they were last analyzed, from a small sample. Call it every few
   * seconds: if no table has grown, it only runs one query on the catalog.
   */
  analyzeGrown(): Promise<void>;
  /**
   * Copies the embedded store's files into a new folder, between two statements. The copy contains everything that was
   * committed before, and is opened like a store whose process was killed. All other callers wait meanwhile.
   * @throws {StoreError} kind `full`; `other` on a server, whose own tools do this
   */
  copyFiles(folder: string): Promise<void>;
  /**
   * Registers a listener that is called once if this process loses the store because the thread of the embedded store
   * ended. The process then has to restart.
   */
  onFatal(listener: (error: StoreError) => void): void;
  /** Waits for running statements, then closes the store. Refuses everything afterwards. A second call does nothing. */
  close(): Promise<void>;
}

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
