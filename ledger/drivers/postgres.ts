import { codeOf } from '../../base/errors.js';
import { isLoopback } from '../../base/loopback.js';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import {
  analyzeGrownTables,
  type Database,
  type Queryable,
  type Session,
  type TransactionOptions,
} from './database.js';
import { Connection, sessionSettings } from './connection.js';
import { resultTypes, type SqlValue } from './sql-values.js';
import { refuseWithinTransaction, runTransaction } from './run-transaction.js';
import { poolsTooLittle, StoreError, toStoreError } from './store-error.js';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { type PostgresTlsMode, sslModes, tlsModeOf, tlsOptionsOf } from '../../base/postgres-tls.js';

interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=…` (see `storeTls`). Errors never contain it. */
  readonly url: string;
  /** Maximum number of connections of this process. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** The server cancels a statement that takes longer. Migrations have no such limit (`withoutLimits`). */
  readonly statementTimeoutMs?: number;
  /** If the server has not answered this long after its own time limit, the connection counts as broken. */
  readonly answerMarginMs?: number;
  readonly idleInTransactionTimeoutMs?: number;
}

/** Time without traffic after which the operating system checks whether the server of a connection still exists. */
const keepAliveAfterMs = 30_000;

/**
 * Connects to a PostgreSQL server, version 15 or newer. Retries nothing, because the caller decides that.
 * @throws {StoreError} kind `unreachable` if there is no server, or it refuses the connection
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
    // ends the wait for a server that disappeared without closing the connection, as after a network failure
    query_timeout: statementTimeoutMs + answerMarginMs,
    onConnect: preparing(limits(statementTimeoutMs, idleInTransactionTimeoutMs)) as (client: ClientBase) => void, // awaited, whatever its type says
  });
  pool.on('error', () => undefined); // an idle connection broke; the pool has removed it and opens another when needed
  const database = new PostgresDatabase(pool, settings, store, idleInTransactionTimeoutMs);
  try {
    await database.refuseUnsuitablePooler();
    await database.refuseOldServer();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/**
 * Returns a time limit in milliseconds from a libpq parameter that the driver ignores; undefined if the URL does not
 * have it, or if it means no limit.
 */
function secondsOf(url: string, name: string): number | undefined {
  if (!URL.canParse(url)) return undefined; // `nameOf` refuses the URL
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
    client.on('error', () => undefined); // ignored: the running or the next statement fails with the error
    try {
      await client.connect();
      await client.query(`${sessionSettings}; ${limits(0, 0)}; set lock_timeout = 0`);
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

  onFatal(): void {} // never called: a server that is down may return, so every call tries again

  close(): Promise<void> {
    this.#closing ??= this.pool.end();
    return this.#closing;
  }

  /** @throws {StoreError} kind `other` if the server is older than version 15, which pigeonpost's SQL requires */
  async refuseOldServer(): Promise<void> {
    const [row] = await this.query<{ number: number }>(
      `select current_setting('server_version_num')::integer as number`,
    );
    const version = Math.floor((row?.number ?? 0) / 10_000);
    if (version < 15)
      throw new StoreError('other', `${this.store} is version ${version}: version 15 or newer is needed`);
  }

  /**
   * Refuses a connection pooler that passes a connection's statements to different sessions of the server: settings,
   * prepared statements and locks of a session would be lost or reach others. Only PostgreSQL can tell, by the id of
   * the session's process. One connection uses a session, and a second one then keeps a session in a transaction. A
   * pooler that pools transactions gives the second one the session that is free, and the first one another.
   * @throws {StoreError} kind `other`
   */
  async refuseUnsuitablePooler(): Promise<void> {
    const clients: PoolClient[] = [];
    try {
      const one = await this.pool.connect();
      clients.push(one);
      const before = await sessionOf(one);
      const other = await this.pool.connect();
      clients.push(other);
      await other.query('begin');
      const others = await sessionOf(other);
      const after = await sessionOf(one);
      await other.query('rollback');
      if (before !== after || before === others) throw new StoreError('other', poolsTooLittle(this.store));
    } catch (error) {
      throw toStoreError(error, this.store);
    } finally {
      clients[0]?.release();
      clients[1]?.release(true); // closed: a restore counts the connections of other processes, and this one is idle
    }
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

/**
 * Returns the statements that set the time limits of a session; 0: none, also if the server has set one for this user.
 * They are not parameters of the connection, which poolers refuse.
 */
function limits(statementTimeoutMs: number, idleInTransactionTimeoutMs: number): string {
  return `set statement_timeout = ${statementTimeoutMs}; set idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`;
}

function preparing(timeLimits: string): (client: ClientBase) => Promise<void> {
  return async (client) => {
    // If a connection breaks while it is in use, the running statement fails too, so this event can be ignored.
    client.on('error', () => undefined);
    await client.query(`${sessionSettings}; ${timeLimits}`);
  };
}

/**
 * Returns the id of the server's process that runs the statements of a connection now. The statement has no name,
 * because a pooler that does not pool sessions may have prepared that name for another connection.
 */
async function sessionOf(client: PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/**
 * Returns the store's name for messages.
 * @throws {StoreError} kind `other` if the URL cannot be parsed; the message does not quote it, since it may hold a
 *   password
 */
function nameOf(url: string): string {
  if (!URL.canParse(url))
    throw new StoreError('other', 'the URL of "store" is invalid: write postgres://USER:PASSWORD@HOST:5432/DATABASE');
  const { hostname, port } = new URL(url);
  return `PostgreSQL at ${decodeURIComponent(hostname) || 'localhost'}:${port || '5432'}`;
}

/**
 * URL parameters about TLS. They are evaluated here and removed from the URL, because the driver has other defaults.
 */
const parameters = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'] as const;

interface StoreTls {
  readonly mode: PostgresTlsMode;
  /** TLS options for the driver. */
  readonly ssl: ConnectionOptions | false;
  /** The URL without the parameters that `ssl` covers. */
  readonly url: string;
}

/**
 * Reads from a store's URL how the connection is protected. If the URL has neither `sslmode` nor `ssl`, this is
 * `verify-full`, or `disable` for a server on this machine.
 * @throws {StoreError} kind `other`; the message does not contain the URL, which may hold a password
 */
export function storeTls(text: string): StoreTls {
  const url = new URL(text);
  const given = (name: (typeof parameters)[number]): string | undefined => url.searchParams.get(name) ?? undefined;
  const mode = modeOf(given('sslmode'), given('ssl'), url);
  const [ca, cert, key] = [given('sslrootcert'), given('sslcert'), given('sslkey')].map((path) =>
    path === undefined || path === 'system' ? undefined : readPem(path),
  );
  const stripped = new URL(text);
  for (const name of parameters) stripped.searchParams.delete(name);
  if (mode === 'disable') return { mode, ssl: false, url: stripped.href };
  const ssl: ConnectionOptions = {
    ...tlsOptionsOf(mode),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return { mode, ssl, url: stripped.href };
}

function modeOf(sslmode: string | undefined, ssl: string | undefined, url: URL): PostgresTlsMode {
  if (sslmode !== undefined) {
    const mode = tlsModeOf(sslmode);
    if (mode !== undefined) return mode;
    throw new StoreError(
      'other',
      `the URL of "store" has an sslmode that is not known: allowed are ${sslModes.join(', ')}`,
    );
  }
  if (ssl === '0' || ssl === 'false') return 'disable';
  if (ssl === 'no-verify') return 'no-verify';
  if (ssl !== undefined) return 'verify-full';
  return isOwnMachine(url) ? 'disable' : 'verify-full';
}

/** Returns true for a loopback address or a socket, whose traffic does not leave this machine. */
function isOwnMachine(url: URL): boolean {
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname);
  return host === '' || host.startsWith('/') || isLoopback(host);
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    throw new StoreError('other', `the file ${path}, which the URL of "store" names, cannot be read (${code})`);
  }
}
