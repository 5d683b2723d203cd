import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import { analyzeGrownTables } from './analyze-grown.js';
import { Connection, sessionSettings } from './connection.js';
import type { Database, Queryable, Session, TransactionOptions } from './database.js';
import { storeTls } from './postgres-tls.js';
import { resultTypes } from './result-values.js';
import { refuseWithinTransaction, runTransaction } from './run-transaction.js';
import type { SqlValue } from './sql-values.js';
import { StoreError } from './store-error.js';
import { toStoreError } from './translate-error.js';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=…`, see `storeTls`. Never part of an error. */
  readonly url: string;
  /** Connections of this process at most. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** The server ends a statement that takes longer. Migrations have no such limit: `withoutLimits`. */
  readonly statementTimeoutMs?: number;
  /** Time beyond the server's own limit after which a connection without an answer counts as dead. */
  readonly answerMarginMs?: number;
  readonly idleInTransactionTimeoutMs?: number;
}

/** Time after which the system checks whether the server of a waiting connection still exists. */
const keepAliveAfterMs = 30_000;

/**
 * Connects to a PostgreSQL server, version 15 or newer. Retries nothing: the caller decides.
 * @throws {StoreError} kind `unreachable` when there is no server, or it refuses the connection
 */
export async function openPostgres({
  url,
  maxConnections = 10,
  connectTimeoutMs = secondsOf(url, 'connect_timeout') ?? 10_000,
  statementTimeoutMs = 60_000,
  answerMarginMs = 10_000,
  idleInTransactionTimeoutMs = 60_000,
}: PostgresOptions): Promise<Database> {
  const store = nameOf(url);
  const { ssl, url: connectionString } = storeTls(url);
  const settings: ClientConfig = {
    connectionString,
    ssl,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    application_name: 'pigeonpost',
    types: resultTypes,
    pipeline: true, // see `Connection`
  };
  const pool = new Pool({
    ...settings,
    max: maxConnections,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    // for a server that is gone without a word (a cut network): nothing else would ever end the wait
    query_timeout: statementTimeoutMs + answerMarginMs,
    onConnect: prepareConnection as (client: ClientBase) => void, // awaited, whatever its type says
  });
  pool.on('error', () => undefined); // an idle connection broke: the pool has dropped it, the next use opens another
  const database = new PostgresDatabase(pool, settings, store, idleInTransactionTimeoutMs);
  try {
    await database.refuseOldServer();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Returns a parameter of libpq that the driver ignores; undefined if there is none, or if it means no limit. */
function secondsOf(url: string, name: string): number | undefined {
  if (!URL.canParse(url)) return undefined; // refused where it is read
  const seconds = Number(new URL(url).searchParams.get(name) ?? 0);
  return Number.isSafeInteger(seconds) && seconds > 0 && seconds < 100_000 ? seconds * 1000 : undefined;
}

class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  #closing: Promise<void> | undefined;

  constructor(
    private readonly pool: Pool,
    /** Settings of a connection without time limits. */
    private readonly settings: ClientConfig,
    private readonly store: string,
    private readonly idleInTransactionTimeoutMs: number,
  ) {}

  query<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.#withConnection((connection) => connection.query<Row>(sql, params));
  }

  script(sql: string): Promise<void> {
    return this.#withConnection((connection) => connection.script(sql));
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#withConnection((connection) =>
      runTransaction(connection, work, { owner: this, idleTimeoutMs: this.idleInTransactionTimeoutMs }, options),
    );
  }

  async withoutLimits<T>(work: (session: Session) => Promise<T>): Promise<T> {
    refuseWithinTransaction(this);
    const client = new Client(this.settings);
    client.on('error', () => undefined); // the running statement, or the next, says so
    try {
      await client.connect();
      await client.query(`${sessionSettings}; ${noLimits}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw toStoreError(error, this.store);
    }
    const connection = new Connection(client, this.store);
    try {
      return await work({
        query: (sql, params) => connection.query(sql, params),
        script: (sql) => connection.script(sql),
        transaction: (transaction, options) =>
          runTransaction(
            connection,
            transaction,
            { owner: connection, idleTimeoutMs: this.idleInTransactionTimeoutMs },
            options,
          ),
      });
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  analyzeGrown(): Promise<void> {
    return analyzeGrownTables(this);
  }

  async maintain(): Promise<void> {} // the server's autovacuum does it

  async copyFiles(): Promise<void> {
    throw new StoreError('other', `the files of ${this.store} belong to its server: use pg_dump`);
  }

  onFatal(): void {} // a server that is gone may return: every call finds out for itself

  close(): Promise<void> {
    this.#closing ??= this.pool.end();
    return this.#closing;
  }

  /** @throws {StoreError} kind `other` below version 15, whose SQL this product is written in */
  async refuseOldServer(): Promise<void> {
    const [row] = await this.query<{ number: number }>(
      `select current_setting('server_version_num')::integer as number`,
    );
    const version = Math.floor((row?.number ?? 0) / 10_000);
    if (version < 15)
      throw new StoreError('other', `${this.store} is version ${version}: version 15 or newer is needed`);
  }

  async #withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    refuseWithinTransaction(this);
    if (this.#closing !== undefined) throw new StoreError('other', 'the store is closed in this process');
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw toStoreError(error, this.store);
    }
    const connection = new Connection(client, this.store);
    try {
      return await use(connection);
    } finally {
      client.release(connection.isBroken);
    }
  }
}

/** A server may have limits for each of its users. */
const noLimits = 'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0';

async function prepareConnection(client: ClientBase): Promise<void> {
  // A connection that breaks while it is in use says so twice: to the running statement, which is enough, and here.
  client.on('error', () => undefined);
  await client.query(sessionSettings);
}

/** @throws {StoreError} kind `other` when the URL cannot be read; it is not quoted, since it may hold a password */
function nameOf(url: string): string {
  if (!URL.canParse(url))
    throw new StoreError('other', 'the URL of "store" cannot be read: see the guide for its form');
  const { hostname, port } = new URL(url);
  return `PostgreSQL at ${decodeURIComponent(hostname) || 'localhost'}:${port || '5432'}`;
}
