import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Session, Queryable } from './drivers/database.js';
import { LedgerError } from './ledger-error.js';
import { StoreError } from './drivers/store-error.js';

const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;

const ownFolder = join(__dirname, 'migrations');

export interface MigrateOptions {
  readonly folder?: string;
  /** Receives a line for the operator when a migration of an existing store starts, and at intervals until it ends. */
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Interval between two lines about the same migration. */
  readonly everyMs?: number;
  /** Limits for how long a migration that runs in a transaction waits for locks. */
  readonly waits?: LockWaits | undefined;
}

/** Returns the number of the newest migration in this version. */
export async function newestMigration(folder = ownFolder): Promise<number> {
  return Number((await migrationFiles(folder)).at(-1)?.slice(0, 4) ?? 0);
}

async function migrationFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => fileName.test(name)).toSorted();
}

/**
 * Brings the schema to the newest version that this code supports. A second run does nothing. Statements have no time
 * limit, because a large table takes long. Only the wait for a lock has a time limit, after which the migration is
 * rolled back and tried again (`retryLock`). A migration runs in a transaction that first records its number, under a
 * lock on the table `migrations`, so two processes cannot both apply it. A migration that builds indexes outside a
 * transaction records its number last. It can be run again from any point.
 * @throws {LedgerError} kind `version` if a newer version of pigeonpost has migrated the store; kind `busy` if another
 * session keeps a table locked
 */
export async function migrate(
  db: Database,
  { folder = ownFolder, onProgress = () => undefined, everyMs = 10_000, waits }: MigrateOptions = {},
): Promise<void> {
  const files = await migrationFiles(folder);
  await db.withoutLimits(async (session) => {
    await untilAlone(session, { onProgress, everyMs });
    try {
      await session.query(createMigrations);
      const applied = await session.query<{ number: number }>('select number from migrations order by number');
      await refuseNewer(applied.at(-1)?.number ?? 0, folder);
      // Compares all numbers, not only the newest: migrations that were developed in parallel are merged in any order.
      const missing = files.filter((name) => !applied.some(({ number }) => number === numberOf(name)));
      for (const [at, name] of missing.entries()) {
        const what = `migrating the store: ${name} (${at + 1} of ${missing.length})`;
        if (applied.length > 0) onProgress(what);
        await reportProgress({ db, what, onProgress, everyMs }, () =>
          apply(session, join(folder, name), { name, onProgress, waits }),
        );
      }
    } finally {
      // If this fails, the connection has failed, and the lock ends with it.
      await session.query('select pg_advisory_unlock(hashtext($1))', [lockName]).catch(() => undefined);
    }
  });
}

const lockName = 'pigeonpost schema';

/**
 * Waits until no other process changes the schema. Requests the lock repeatedly instead of waiting for it in one
 * statement. Such a statement would hold a snapshot, and an index that the other process builds outside a transaction
 * waits until every older snapshot has ended.
 */
async function untilAlone(
  session: Session,
  { onProgress, everyMs }: Required<Pick<MigrateOptions, 'everyMs'>> & { onProgress: (line: string) => void },
): Promise<void> {
  let saidAt = -Infinity;
  for (;;) {
    const [row] = await session.query<{ alone: boolean }>('select pg_try_advisory_lock(hashtext($1)) as alone', [
      lockName,
    ]);
    if (row!.alone) return;
    if (performance.now() - saidAt >= everyMs) {
      saidAt = performance.now();
      onProgress('waiting until another process has migrated the store');
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(everyMs, 250)));
  }
}

/**
 * Refuses a store that `migrate` would refuse before its first migration: a newer version has migrated it, or its user
 * may not create tables. Changes nothing.
 * @throws {LedgerError} kind `version`; {StoreError}
 */
export async function refuseUnmigratable(db: Database): Promise<void> {
  const [table] = await db.query(`select 1 from pg_tables where tablename = 'migrations'`);
  if (table !== undefined) {
    const [row] = await db.query<{ number: number }>('select max(number) as number from migrations');
    await refuseNewer(row?.number ?? 0, ownFolder);
    return;
  }
  const isTried = new Error('the table can be created');
  const trying = db.transaction(async (tx) => {
    await tx.script(createMigrations);
    throw isTried; // so that the transaction is rolled back
  });
  await trying.catch((error: unknown) => {
    if (error !== isTried) throw error;
  });
}

const createMigrations =
  'create table if not exists migrations (number integer primary key, applied_at timestamptz not null default now())';

async function refuseNewer(newest: number, folder: string): Promise<void> {
  const known = await newestMigration(folder);
  if (newest <= known) return;
  throw new LedgerError(
    'version',
    `a newer version has migrated the store to ${newest}, and this version of pigeonpost supports ${known}: start the newer version, or restore the backup that you made before the upgrade`,
  );
}

async function apply(session: Session, file: string, options: Parameters<typeof retryLock>[1]): Promise<void> {
  const { name } = options;
  const sql = await readFile(file, 'utf8');
  const record = 'insert into migrations (number) values ($1) on conflict (number) do nothing returning number';
  if (isOutsideTransaction(sql)) {
    await buildIndexes(session, name, sql);
    await session.query(record, [numberOf(name)]);
    return;
  }
  await retryLock(session, options, async (tx) => {
    await tx.query('lock table migrations in exclusive mode');
    const added = await tx.query(record, [numberOf(name)]);
    if (added.length === 1) await tx.script(sql);
  });
}

function numberOf(name: string): number {
  return Number(name.slice(0, 4));
}

/**
 * Marks a migration that builds indexes while other processes write to the table. The rest of the line is the reason.
 */
const declared = /^-- Outside a transaction: \S/m;

const allowed = [
  /^create (?:unique )?index concurrently if not exists (?<built>\w+) on \w+\b/,
  /^drop index concurrently if exists \w+$/,
];

/** Whether a migration commits each statement separately and records its number at the end. */
function isOutsideTransaction(sql: string): boolean {
  return declared.test(sql);
}

/**
 * Builds and drops indexes one after another, without blocking writers. An interrupted build leaves an invalid index,
 * which PostgreSQL maintains but never uses: it is dropped and built again. A complete index stays as it is, so a
 * second run is safe from any point. Indexes are compared by name only, so an index that changes needs a new name.
 * @throws {Error} if the file contains any other statement, which a crash could leave incomplete
 */
async function buildIndexes(session: Session, name: string, sql: string): Promise<void> {
  for (const statement of statementsOf(name, sql)) {
    const { built } = statement.match ?? {};
    if (built !== undefined && (await isInvalid(session, built))) {
      await session.script(`drop index concurrently if exists ${built}`);
    }
    await session.script(statement.text);
  }
}

async function isInvalid(session: Session, index: string): Promise<boolean> {
  const rows = await session.query(
    'select 1 from pg_index where indexrelid = to_regclass($1::text) and not indisvalid',
    [index],
  );
  return rows.length > 0;
}

function statementsOf(
  name: string,
  sql: string,
): { readonly text: string; readonly match: { [group: string]: string | undefined } | undefined }[] {
  const texts = sql
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  return texts.map((text) => {
    const match = allowed.map((form) => form.exec(text)).find((found) => found !== null);
    if (match !== undefined && match !== null) return { text, match: match.groups };
    throw new Error(
      `${name} runs outside a transaction, where only "create index concurrently if not exists" and "drop index concurrently if exists" can be repeated; it also has: ${text.slice(0, 80)}`,
    );
  });
}

interface Reporting {
  /** A connection other than the busy one, to query the server's progress. */
  readonly db: Database;
  readonly what: string;
  readonly onProgress: (line: string) => void;
  readonly everyMs: number;
}

/** Runs `work`. Until it ends, reports the elapsed seconds and the progress of an index build at each interval. */
async function reportProgress({ db, what, onProgress, everyMs }: Reporting, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  let reporting: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    reporting = reporting.then(async () => onProgress(`${what}, ${seconds} s so far${await indexProgress(db)}`));
  }, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    await reporting;
  }
}

/** Returns the progress of an index build; '' for an embedded store, whose only connection is busy. */
async function indexProgress(db: Database): Promise<string> {
  if (db.kind === 'embedded') return '';
  try {
    const [row] = await db.query<{ phase: string; done: number; total: number }>(
      `select phase, blocks_done::float8 as done, blocks_total::float8 as total from pg_stat_progress_create_index
       where datname = current_database() limit 1`,
    );
    if (row === undefined) return '';
    const share = row.total > 0 ? `, ${Math.floor((100 * row.done) / row.total)} %` : '';
    return ` (${row.phase}${share})`;
  } catch {
    return ''; // the line is reported without the progress
  }
}

interface LockWaits {
  /**
   * Time limit of one attempt to get a lock. During the attempt, every other session that needs the table has to wait.
   */
  readonly lockTimeoutMs: number;
  /** Time for which the attempts continue before the migration fails. */
  readonly giveUpAfterMs: number;
  /** Maximum pause between two attempts. Other sessions can use the table during a pause. */
  readonly maxPauseMs: number;
}

const lockWaits: LockWaits = { lockTimeoutMs: 5000, giveUpAfterMs: 10 * 60_000, maxPauseMs: 10_000 };

/**
 * Runs a migration's transaction without blocking other sessions for long while it waits for a lock. If an attempt does
 * not get its locks in time, it is rolled back and repeated after a pause.
 * @param name name of the migration, for messages
 * @throws {LedgerError} kind `busy` if no attempt got its locks; any error that `work` throws
 */
async function retryLock(
  session: Session,
  {
    name,
    onProgress,
    waits = lockWaits,
  }: { readonly name: string; readonly onProgress: (line: string) => void; readonly waits?: LockWaits | undefined },
  work: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const until = performance.now() + waits.giveUpAfterMs;
  for (let pauseMs = Math.min(1000, waits.maxPauseMs); ; pauseMs = Math.min(pauseMs * 2, waits.maxPauseMs)) {
    try {
      await session.transaction(async (tx) => {
        await tx.script(`set local lock_timeout = ${waits.lockTimeoutMs}`);
        await work(tx);
      });
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.sqlState === lockNotAvailable)) throw error;
      const holder = await oldestTransaction(session, waits.lockTimeoutMs);
      if (performance.now() + pauseMs > until) {
        throw new LedgerError(
          'busy',
          `${name} needs a table that another session has locked${holder}: end that session, then start again. Nothing was changed`,
        );
      }
      onProgress(`${name} needs a table that another session has locked${holder}: trying again in ${pauseMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** SQLSTATE `lock_not_available`. Source: PostgreSQL 15, Appendix A. */
const lockNotAvailable = '55P03';

/**
 * Describes the session that most likely holds the lock: the one with the oldest transaction. Leaves out its statement,
 * which may quote values.
 */
async function oldestTransaction(session: Session, olderThanMs: number): Promise<string> {
  const [row] = await session.query<{ pid: number; program: string; state: string; seconds: number }>(
    `select pid, application_name as program, state, extract(epoch from now() - xact_start)::int as seconds
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state is not null
       and xact_start < now() - $1::float8 * interval '1 ms'
     order by xact_start limit 1`,
    [olderThanMs],
  );
  if (row === undefined) return '';
  const program = /^[\w .:-]{1,60}$/.test(row.program) ? `${row.program}, ` : '';
  return ` (probably process ${row.pid} of the server: ${program}${row.state}, in a transaction for ${row.seconds} s)`;
}
