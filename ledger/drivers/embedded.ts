import { codeOf } from '../../base/errors.js';
import { constants, existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { packageRoot } from '../../base/package-root.js';
import {
  analyzeGrownTables,
  tablesToVacuum,
  type Database,
  type Queryable,
  type Session,
  type TransactionOptions,
} from './database.js';
import { Connection, sessionSettings } from './connection.js';
import { embeddedFolder } from './embedded-folder.js';
import { type FromThread, type ThreadData, threadExitCodes, type ToThread, EmbeddedStream } from './embedded-stream.js';
import { type FolderLock, lockFolder } from './folder-lock.js';
import { resultTypes, type SqlValue } from './sql-values.js';
import { refuseWithinTransaction, runTransaction } from './run-transaction.js';
import { StoreError } from './store-error.js';

interface EmbeddedOptions {
  /** The folder with `postgres/` and the lock; created if needed. It may also hold other data of the same process. */
  readonly folder: string;
  readonly idleInTransactionTimeoutMs?: number;
}

/**
 * Time limit of an orderly close, which writes a last checkpoint. After it, the thread is terminated, which is as safe
 * as a kill.
 */
const closeTimeoutMs = 10_000;

/**
 * Opens the store in a folder. This process then owns the folder until `close` or its own end. Takes about half a
 * second, and up to a second more after a kill.
 * @throws {StoreError} kind `locked` if another process owns the folder; `full`; `other` if the store cannot be opened
 */
export async function openEmbedded({
  folder,
  idleInTransactionTimeoutMs = 60_000,
}: EmbeddedOptions): Promise<Database> {
  refuseWithoutEmbeddedStore();
  const lock = await lockFolder(folder);
  try {
    const data: ThreadData = { folder: await embeddedFolder(folder) };
    // The thread gets no environment variables, because it needs none and they hold secrets.
    const thread = new Worker(program('embedded-thread'), { workerData: data, env: {}, execArgv: [] });
    await untilReady(thread, folder);
    return await connect(thread, lock, idleInTransactionTimeoutMs);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** @throws {StoreError} kind `other` in the container image, which leaves the embedded store out (decision 0052) */
export function refuseWithoutEmbeddedStore(): void {
  try {
    require.resolve('@electric-sql/pglite');
  } catch {
    throw new StoreError(
      'other',
      'the container image has no embedded store: set DATABASE_URL, or "store", to the URL of a PostgreSQL database',
    );
  }
}

class EmbeddedDatabase implements Database {
  readonly kind = 'embedded';
  readonly #connection: Connection;
  readonly #listeners: ((error: StoreError) => void)[] = [];
  #lost: StoreError | undefined;
  #closing: Promise<void> | undefined;
  #lastSent: Promise<void> = Promise.resolve();
  /** Resolves when the answers to all statements sent so far have arrived. */
  #lastAnswered: Promise<void> = Promise.resolve();

  constructor(
    client: Client,
    private readonly thread: Worker,
    private readonly lock: FolderLock,
    private readonly idleInTransactionTimeoutMs: number,
  ) {
    this.#connection = new Connection(client, nameOf(lock.folder));
    client.on('error', () => undefined); // ignored: the thread's `exit` reports it with a reason
    thread.once('exit', (code) => this.#onThreadExit(code));
  }

  query<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.#alone(() => this.#connection.query<Row>(sql, params));
  }

  script(sql: string): Promise<void> {
    return this.#alone(() => this.#connection.script(sql));
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#inTurn((next) => {
      const limits = { owner: this, idleTimeoutMs: this.idleInTransactionTimeoutMs };
      return runTransaction(this.#connection, work, limits, { ...options, onSent: next });
    });
  }

  withoutLimits<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return work(this);
  }

  analyzeGrown(): Promise<void> {
    return analyzeGrownTables(this);
  }

  async maintain(): Promise<void> {
    // One statement per table, so that other statements can run in between.
    for (const table of await this.query<{ name: string }>(tablesToVacuum)) {
      await this.script(`vacuum (analyze) ${table.name}`);
    }
  }

  copyFiles(folder: string): Promise<void> {
    return this.#inTurn(async () => {
      // Nothing writes to the files between two statements, because the engine has no background processes.
      await this.#connection.script('checkpoint');
      try {
        await cp(join(this.lock.folder, 'postgres'), folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
      } catch (error) {
        const code = codeOf(error);
        const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'other';
        throw new StoreError(
          kind,
          `the store could not be copied to ${folder} (${code}): the copy needs as much space as the store`,
        );
      }
    });
  }

  onFatal(listener: (error: StoreError) => void): void {
    if (this.#lost === undefined) this.#listeners.push(listener);
    else listener(this.#lost);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#lastAnswered;
    const exited = this.#lost !== undefined ? Promise.resolve() : onExit(this.thread);
    this.thread.postMessage({ kind: 'close' } satisfies ToThread);
    const overdue = setTimeout(() => void this.thread.terminate(), closeTimeoutMs);
    await exited;
    clearTimeout(overdue);
    await this.lock.release();
  }

  #alone<T>(statement: () => Promise<T>): Promise<T> {
    return this.#inTurn((onSent) => {
      const answered = statement();
      onSent();
      return answered;
    });
  }

  /**
   * Runs uses of the connection one after the other, because PGlite has one session and a transaction occupies it. The
   * next use starts when the previous one has sent its last statement. It does not wait for the answers, because these
   * arrive in the order of the statements.
   */
  async #inTurn<T>(use: (onSent: () => void) => Promise<T>): Promise<T> {
    refuseWithinTransaction(this);
    if (this.#closing !== undefined) throw new StoreError('other', 'the store is closed in this process');
    let onSent!: () => void;
    const sent = new Promise<void>((resolve) => {
      onSent = resolve;
    });
    const result = this.#lastSent.then(async () => {
      try {
        if (this.#lost !== undefined) throw this.#lost;
        return await use(onSent);
      } catch (error) {
        // The connection breaks before the thread's exit code, which tells the reason, is known.
        if (error instanceof StoreError && error.kind === 'unreachable') throw await this.#whyLost(error);
        throw error;
      } finally {
        onSent(); // in case `use` failed before it called `onSent`
      }
    });
    this.#lastSent = sent;
    const before = this.#lastAnswered;
    this.#lastAnswered = result.then(
      () => before,
      () => before,
    );
    return result;
  }

  async #whyLost(error: StoreError): Promise<StoreError> {
    if (this.#lost === undefined) await onExit(this.thread);
    return this.#lost ?? error;
  }

  #onThreadExit(code: number): void {
    this.#lost = lossOf(code, this.lock.folder);
    if (this.#closing === undefined) for (const listener of this.#listeners) listener(this.#lost);
  }
}

async function connect(thread: Worker, lock: FolderLock, idleTimeoutMs: number): Promise<Database> {
  const stream = new EmbeddedStream(thread);
  // Every setting is given, because `pg` would otherwise read it from the environment (`PG…`).
  const client = new Client({
    stream: () => stream,
    host: 'embedded',
    port: 5432,
    user: 'postgres',
    password: '',
    database: 'postgres',
    ssl: false,
    options: '',
    application_name: 'pigeonpost',
    types: resultTypes,
    pipeline: true, // see `Connection`
  });
  await client.connect();
  await client.query(sessionSettings);
  return new EmbeddedDatabase(client, thread, lock, idleTimeoutMs);
}

/** Waits until the thread has opened the store. @throws {StoreError} if the thread ends first */
function untilReady(thread: Worker, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.once('error', () => undefined); // the exit event follows; the error itself may quote data
    thread.once('exit', (code) => reject(lossOf(code, folder)));
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'ready') resolve();
    });
  });
}

function onExit(thread: Worker): Promise<void> {
  return new Promise((resolve) => thread.once('exit', () => resolve()));
}

function lossOf(exitCode: number, folder: string): StoreError {
  if (exitCode === threadExitCodes.full) {
    return new StoreError('full', `no space is left on the disk of ${folder}: free some space and start again`);
  }
  return new StoreError(
    'unreachable',
    `the embedded store in ${folder} stopped (code ${exitCode}): start again, nothing that was committed is lost`,
  );
}

function nameOf(folder: string): string {
  return `the embedded store in ${folder}`;
}

/**
 * Returns the built file of a thread's program. Code that runs from TypeScript sources (tests) uses the last build,
 * because Node cannot start a thread from TypeScript.
 */
function program(name: string): string {
  const built = join(packageRoot(), 'dist/ledger/drivers', `${name}.js`);
  if (existsSync(built)) return built;
  throw new StoreError('other', `the embedded store is not built: run "npm run build" (no ${built})`);
}
