import type { StoreError } from './store-error.js';
import type { SqlValue } from './sql-values.js';

/** Runs statements: on the store itself, or in one of its transactions. */
export interface Queryable {
  /**
   * Runs one statement with parameters `$1`, `$2`… and returns its rows. A connection prepares a text once, so the text
   * has to be constant: anything that varies is a parameter. `result-values.ts` defines the types of the results.
   * @throws {StoreError}
   */
  query<Row extends object = Record<string, unknown>>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * Runs a text that may hold several statements (a migration) and takes no parameters. Outside of a transaction
   * the statements of one script are one transaction of their own.
   * @throws {StoreError}
   */
  script(sql: string): Promise<void>;
}

/** Statements and transactions of one connection, one after the other. */
export type Session = Pick<Database, 'query' | 'script' | 'transaction'>;

export interface TransactionOptions {
  /**
   * What `work` gives before it waits for the first time only reads and locks: it is sent behind the `begin`, whose
   * answer is not waited for first. Were that refused, those statements would run, and lock nothing.
   */
  readonly beginsByLocking?: boolean;
  /** Called once the commit has been sent. The store is busy then, so the caller can use the time to compute. */
  readonly onSent?: (() => void) | undefined;
}

/**
 * The store: PostgreSQL, in a server or compiled into this process. One dialect and one behaviour; the contract test
 * of this folder runs on both.
 */
export interface Database extends Queryable {
  readonly kind: 'embedded' | 'postgres';
  /**
   * Runs `work` in one transaction (read committed): committed when it returns, rolled back when it throws or leaves
   * the transaction idle for longer than `idleInTransactionTimeoutMs`. Nothing is retried here. If `work` returns
   * without waiting for its last statements, the commit follows them, and the first failure among them is thrown.
   *
   * Inside `work` only `tx` may be used: the store itself would wait for the transaction that waits for it (embedded,
   * there is one connection), so it refuses with a sentence instead.
   * @throws {StoreError}, or whatever `work` throws
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` on a connection of its own on which nothing has a time limit: for migrations, which take as long as the
   * tables are large. Embedded it is the store itself, which has none.
   * @throws {StoreError}, or whatever `work` throws
   */
  withoutLimits<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Housekeeping that a PostgreSQL server does automatically (autovacuum) and the embedded store does not: call it about
   * once an hour. Blocks the embedded store briefly for each table that needs it; does nothing on a server.
   */
  maintain(): Promise<void>;
  /**
   * Analyzes tables that have grown much since they were last analyzed, from a small sample. Call it every few seconds:
   * it reads the catalog once and does no more unless a table has grown.
   */
  analyzeGrown(): Promise<void>;
  /**
   * Copies the embedded store's files into a new folder, between two statements. The copy contains everything that was
   * committed before and opens like a store after a kill. All other callers wait meanwhile.
   * @throws {StoreError} kind `full`; `other` on a server, whose own tools do this
   */
  copyFiles(folder: string): Promise<void>;
  /**
   * Calls back once if the store is lost for this process (embedded: its thread ended), so that a restart is needed.
   */
  onFatal(listener: (error: StoreError) => void): void;
  /** Waits for what runs, then closes. Everything afterwards is refused. A second call does nothing. */
  close(): Promise<void>;
}
