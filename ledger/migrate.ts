import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Session } from './drivers/database.js';
import { LedgerError } from './ledger-error.js';
import { type LockWaits, retryLock } from './retry-lock.js';

const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;

const ownFolder = join(__dirname, 'migrations');

export interface MigrateOptions {
  readonly folder?: string;
  /** A line for a person: which migration of a store that is in use runs, and, while one takes long, how far it is. */
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Interval between two such lines. */
  readonly everyMs?: number;
  /** Limits of a transactional migration's waits for locks. */
  readonly waits?: LockWaits | undefined;
}

/** The number of the newest migration that this version has. */
export async function newestMigration(folder = ownFolder): Promise<number> {
  return Number((await migrationFiles(folder)).at(-1)?.slice(0, 4) ?? 0);
}

async function migrationFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => fileName.test(name)).toSorted();
}

/**
 * Brings the schema to the newest version this code knows; a second run does nothing. No statement has a time limit here:
 * a large table takes as long as it takes. Only the wait for a lock is limited, and repeated (retry-lock.ts). Each migration runs in a transaction that records its number first, under a
 * lock on that table, so two processes cannot both apply one; one that builds indexes outside a transaction records its
 * number last, and can be run again from any point.
 * @throws {LedgerError} kind `version` when the store was written by a newer version of pigeonpost; kind `busy` when another
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
      await makeTable(session);
      const applied = await session.query<{ number: number }>('select number from migrations order by number');
      await refuseNewer(applied.at(-1)?.number ?? 0, folder);
      // Not by the newest number: parts of a version that are made side by side arrive in any order.
      const missing = files.filter((name) => !applied.some(({ number }) => number === numberOf(name)));
      for (const [at, name] of missing.entries()) {
        const what = `migrating the store: ${name} (${at + 1} of ${missing.length})`;
        if (applied.length > 0) onProgress(what);
        await reportProgress({ db, what, onProgress, everyMs }, () =>
          apply(session, join(folder, name), { name, onProgress, waits }),
        );
      }
    } finally {
      // The lock ends with its connection as well: a failure here is the connection's.
      await session.query('select pg_advisory_unlock(hashtext($1))', [lockName]).catch(() => undefined);
    }
  });
}

const lockName = 'pigeonpost schema';

/**
 * Waits until no other process changes the schema. It asks again and again rather than wait within a statement: that
 * would hold a snapshot, and an index that is built outside a transaction waits for every older snapshot to end.
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

async function makeTable(session: Session): Promise<void> {
  await session.transaction(async (tx) => {
    // The previous version knows this lock only. "if not exists" lets two first starts collide in PostgreSQL's catalogue.
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', ['pigeonpost migrations']);
    await tx.query(
      'create table if not exists migrations (number integer primary key, applied_at timestamptz not null default now())',
    );
  });
}

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

/** The head of a migration that builds indexes while other processes write to the table, with its reason. */
const declared = /^-- Outside a transaction: \S/m;

const allowed = [
  /^create (?:unique )?index concurrently if not exists (?<built>\w+) on \w+\b/,
  /^drop index concurrently if exists \w+$/,
];

/** Whether a migration runs statement by statement, each committed alone, and records its number at the end. */
function isOutsideTransaction(sql: string): boolean {
  return declared.test(sql);
}

/**
 * Builds and drops indexes one by one, without keeping writers out. A build that was cut off leaves an index that is
 * maintained and never used: it is dropped and built again. One that is complete is left as it is, so a second run is
 * safe from any point. The name decides: an index that changes gets a new name.
 * @throws {Error} for a file that holds anything else, which a crash could leave half done
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
  /** Asked how far the server is, beside the connection that is busy. */
  readonly db: Database;
  readonly what: string;
  readonly onProgress: (line: string) => void;
  readonly everyMs: number;
}

/** Runs `work` and says, as long as it takes, for how many seconds it has, and what the server does with an index. */
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

/** Embedded the one connection is at work, and there is nobody to ask. */
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
    return ''; // a line less
  }
}
