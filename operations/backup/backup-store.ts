import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, dirname, resolve } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { BackupError } from './backup-error.js';
import { open, rename, rm, mkdtemp, writeFile, readFile, readdir } from 'node:fs/promises';
import { syncFolder } from '../../ledger/drivers/embedded-folder.js';
import type { Database } from '../../ledger/drivers/database.js';
import { z } from 'zod';
import { packageVersion } from '../../base/package-root.js';
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';

/** Prefix of folders that the next start of the store deletes if this process is killed; see embedded-folder.ts. */
const clearedAtStart = 'postgres.new-';

/**
 * Returns an embedded store as one compressed archive: `backup.json`, then its files. The store is blocked only while
 * its files are copied (1 s for a few hundred MB, not at all if the file system shares blocks). The copy is then
 * rewritten without erased or overwritten data (decision 0031), and packed as fast as the reader reads.
 * @param folder folder of the store
 * @throws {BackupError}, {StoreError}; if packing fails, the stream ends with a BackupError
 */
export async function packStore(db: Database, folder: string): Promise<BackupBytes> {
  const work = await mkdtemp(join(folder, clearedAtStart));
  try {
    const facts = await backupFactsOf(db);
    await db.copyFiles(join(work, 'postgres'));
    await cleanCopy(work);
    await writeFile(join(work, factsFile), `${JSON.stringify(facts, null, 2)}\n`);
    return pack(work);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

async function* pack(work: string): BackupBytes {
  const tar = runTar(['-C', work, '-czf', '-', factsFile, 'postgres'], ['ignore', 'pipe', 'pipe']);
  try {
    for await (const bytes of tar.child.stdout!) yield bytes as Uint8Array;
    await tar.done;
  } finally {
    tar.child.kill(); // the reader may have stopped
    await tar.done.catch(() => undefined);
    await rm(work, { recursive: true, force: true });
  }
}

/** Format of the archive. A version that changes it uses the next number and still reads this one. */
const format = 'pigeonpost-backup/1';

const factsSchema = z.object({
  format: z.literal(format),
  /** The instant of the copy, which contains everything committed until then. */
  madeAt: z.iso.datetime(),
  /** The version that made it. */
  pigeonpost: z.string(),
  /** The ledger's newest migration. */
  migration: z.number().int(),
  ledger: z.uuid(),
});

/** Metadata of a backup of an embedded store; nothing from the ledger's contents. */
export type BackupFacts = z.infer<typeof factsSchema>;

/** The first file of the archive, which contains the facts. */
export const factsFile = 'backup.json';

/** @throws {BackupError} kind `missing` if nothing was ever stored */
async function backupFactsOf(db: Database): Promise<BackupFacts> {
  const [migrated] = await db.query(`select 1 from pg_tables where tablename = 'ledger'`);
  const [row] =
    migrated === undefined
      ? []
      : await db.query<{ migration: number; ledger: string }>(
          'select (select max(number) from migrations) as migration, id as ledger from ledger',
        );
  if (row === undefined) throw new BackupError('missing', 'the store holds no ledger yet: there is nothing to back up');
  return { format, madeAt: new Date().toISOString(), pigeonpost: packageVersion(), ...row };
}

/** @throws {BackupError} kind `unusable` */
export async function readBackupFacts(folder: string): Promise<BackupFacts> {
  try {
    return factsSchema.parse(JSON.parse(await readFile(join(folder, factsFile), 'utf8')));
  } catch (error) {
    throw new BackupError('unusable', `the file is no backup that this version can read: its ${factsFile} says so`, {
      cause: error,
    });
  }
}

/**
 * Removes erased and overwritten rows from a copied store. The database has only marked them as dead, and the
 * write-ahead log contains them, too. A separate thread rewrites every table of the copy, so the original store
 * continues to work.
 * @param folder the folder that contains the copy, in `postgres/`
 */
async function cleanCopy(folder: string): Promise<void> {
  const db = await openEmbedded({ folder });
  try {
    const tables = await db.query<{ name: string }>(
      'select quote_ident(tablename) as name from pg_tables where schemaname = current_schema() order by 1',
    );
    // Statistics contain samples of the values, so they are collected again.
    await db.script(`vacuum (full, analyze) ${tables.map(({ name }) => name).join(', ')}`);
    await db.script('vacuum full pg_catalog.pg_statistic');
    const log = join(folder, 'postgres', 'pg_wal');
    const [current] = await db.query<{ name: string }>('select pg_walfile_name(pg_current_wal_lsn()) as name');
    // Segments that are recycled for later use still contain old data.
    for (const name of await readdir(log)) {
      if (/^[0-9A-F]{24}$/.test(name) && name > current!.name) await rm(join(log, name));
    }
    await db.query('set wal_recycle = off');
    await db.query('select pg_switch_wal()');
    await db.script('checkpoint');
  } finally {
    await db.close();
  }
  await rm(join(folder, 'lock'), { force: true });
}

interface RunningTar {
  readonly child: ChildProcess;
  /**
   * Resolves when tar has ended without an error.
   * @throws {BackupError} kind `tool` if it is not installed; `failed` with its first error line
   */
  readonly done: Promise<void>;
}

/** Runs this machine's tar. */
export function runTar(args: readonly string[], stdio: StdioOptions): RunningTar {
  const child = spawn('tar', args, { stdio });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 4096) said += text;
  });
  const done = new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      const why = isMissing ? 'is not installed' : `cannot be started (${error.code})`;
      const advice = 'install tar, or stop pigeonpost and copy the folder of the store';
      reject(new BackupError(isMissing ? 'tool' : 'failed', `tar ${why}: ${advice}`));
    });
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const how = signal ?? `code ${code}`;
      reject(new BackupError('failed', `tar ended with ${how}${firstProblem(said)}`));
    });
  });
  done.catch(() => undefined); // the caller handles it
  return { child, done };
}

/** Only the first line of an error, because the next ones may quote a row. */
function firstProblem(said: string): string {
  const line = said.split('\n').find((each) => /error|fatal|cannot|ERROR|FATAL/.test(each));
  return line === undefined ? '' : `: ${line.trim().slice(0, 300)}`;
}

/** The bytes of a backup, from any source. */
export type BackupBytes = AsyncIterable<Uint8Array>;

/**
 * Backs up an embedded store that no process uses.
 * @throws {BackupError}; {StoreError} kind `locked` if a process uses it, which then has to make the backup
 */
export async function packUnusedStore(folder: string, use: (bytes: BackupBytes) => Promise<void>): Promise<void> {
  if (!existsSync(join(folder, 'postgres'))) {
    throw new BackupError('missing', `there is no store in ${folder}: check "store" in the configuration`);
  }
  const db = await openEmbedded({ folder });
  try {
    await use(await packStore(db, folder));
  } finally {
    await db.close();
  }
}

/** Encrypts a backup on its way to the disk. */
export type Encrypt = (bytes: BackupBytes) => BackupBytes;

/**
 * Writes a backup and checks that it can be read before the file gets its name. An encrypted backup is checked before
 * it is encrypted, because this process cannot decrypt it.
 * @throws {BackupError}
 */
export async function writeBackup(file: string, bytes: BackupBytes, encrypt?: Encrypt): Promise<void> {
  await writeWhole(file, async (part) => {
    if (encrypt !== undefined) {
      await writeFile(part, encrypt(readAlong(bytes)));
      return;
    }
    await writeFile(part, bytes);
    const reading = runTar(['-tzf', part], ['ignore', 'ignore', 'pipe']);
    await reading.done;
  });
}

/** Passes a packed store on and checks it at the same time. If it is not a complete archive, the stream ends with a BackupError. */
async function* readAlong(bytes: BackupBytes): BackupBytes {
  const reading = runTar(['-tzf', '-'], ['pipe', 'ignore', 'pipe']);
  const into = reading.child.stdin!;
  into.on('error', () => undefined); // tar has ended, and its own error says why
  try {
    for await (const piece of bytes) {
      if (!into.write(piece)) await Promise.race([once(into, 'drain'), reading.done]);
      yield piece;
    }
    into.end();
    await reading.done;
  } finally {
    reading.child.kill();
  }
}

/**
 * Writes a file under a temporary name and renames it once it is complete and on the disk, so that a file with a
 * backup's name is always complete. No other user of this machine may read it.
 * @throws {BackupError} kind `inUse` if the file exists already
 */
export async function writeWhole(file: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = `${file}.part`;
  await refuseExisting(file);
  try {
    const made = await open(part, 'w', 0o600);
    await made.chmod(0o600); // a part file that an earlier run left may have other permissions
    await made.close();
    await write(part);
    const written = await open(part, 'r');
    await written.sync();
    await written.close();
    await refuseExisting(file);
    await rename(part, file);
    syncFolder(dirname(resolve(file)));
  } catch (error) {
    await rm(part, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof BackupError || typeof code !== 'string') throw error;
    throw new BackupError('failed', `${file} cannot be written (${code}): check the path and its permissions`, {
      cause: error,
    });
  }
}

/** Writes a stream to standard output. */
export async function passOn(bytes: AsyncIterable<Uint8Array>, out: NodeJS.WritableStream): Promise<void> {
  for await (const piece of bytes) if (!out.write(piece)) await once(out, 'drain');
}

async function refuseExisting(file: string): Promise<void> {
  const found = await open(file, 'r').catch(() => undefined);
  if (found === undefined) return;
  await found.close();
  throw new BackupError('inUse', `${file} already exists: choose another name, because no file is overwritten`);
}
