import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../ledger/drivers/database.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { restoredName, syncFolder } from '../../ledger/drivers/embedded-folder.js';
import { lockFolder } from '../../ledger/drivers/folder-lock.js';
import { ledgerKeyFile, readKeyFile, writeKeyFile, type LedgerKey } from '../../ledger/ledger-key.js';
import { migrate, newestMigration } from '../../ledger/migrate.js';
import { markRestored, type RestoredFrom } from './restore-store.js';
import { type ErasureList, takeOverErasures, readErasureList } from '../../people/erasure-list.js';
import { readIdentity } from '../../ledger/identity.js';
import { decrypted } from './age.js';
import { BackupError } from './backup-error.js';
import { type BackupFacts, factsFile, readBackupFacts, runTar } from './backup-store.js';
import { StoreError } from '../../ledger/drivers/store-error.js';

interface RestoredStore {
  readonly facts: BackupFacts;
  /** Folder of the replaced store; null: there was none. */
  readonly replaced: string | null;
  /** Erasures that are applied again because they are newer than the backup; null: they are not known. */
  readonly erasures: number | null;
}

interface RestoreTerms {
  /** Exported list of earlier erasures; null: none was given. */
  readonly erasures: ErasureList | null;
  /** Whether the backup may belong to another ledger than the one that it replaces. */
  readonly otherLedger: boolean;
  /** The key that the operator has kept separately; by default the key in the folder is used. */
  readonly key?: LedgerKey | undefined;
  /** The key from the configuration; if present, the folder needs no key file. */
  readonly configuredKey?: LedgerKey | undefined;
  /** A file with the identity that decrypts the backup; undefined: the backup is not encrypted. */
  readonly identityFile?: string | undefined;
}

/** Checks that a backup exists. Call it before any question or change. @throws {BackupError} kind `missing` */
export function requireBackupFile(file: string): void {
  if (!existsSync(file)) throw new BackupError('missing', `there is no file ${file}: check the path`);
}

/**
 * Replaces an embedded store with a backup. The backup is unpacked into a folder beside the store, migrated and marked
 * as restored there, and renamed last. If the process is killed, the old store still exists, in its place or as
 * `postgres.replaced-…`. The new store sends nothing until an operator has decided about the restore. The old store is
 * kept. Temporal's data is deleted: it is newer than the backup, and the ledger has everything that is needed. People
 * who were forgotten after the backup, according to the old store and the given list, are forgotten again.
 *
 * A backup does not contain the ledger's key. The key comes from the folder, the configuration or `key`.
 * @throws {BackupError}; {LedgerError} kind `otherLedger`; {StoreError} kind `locked` while a process uses the folder
 */
export async function restoreEmbedded(
  file: string,
  folder: string,
  mark: Omit<RestoredFrom, 'madeAt'>,
  terms: RestoreTerms,
): Promise<RestoredStore> {
  const present = await lookAtPresentStore(folder);
  const lock = await lockFolder(folder);
  const work = await mkdtemp(join(folder, 'postgres.new-'));
  try {
    await unpack(await plainArchive(file, work, terms.identityFile), work, file);
    const facts = await readBackupFacts(work);
    await refuseNewer(facts);
    if (present !== undefined && !terms.otherLedger) refuseOther(file, facts, present);
    const lists = [present, terms.erasures].filter((list) => list != null);
    const own = lists.filter((list) => list === terms.erasures || list.ledger === facts.ledger);
    const candidate = terms.key ?? terms.configuredKey ?? (await readKeyFile(join(folder, ledgerKeyFile)));
    const { erasures, key } = await bringUpToDate(work, {
      mark: markRestored({ ...mark, madeAt: new Date(facts.madeAt) }),
      lists: own,
      keyOf: async (db) => await keyOfBackup(db, file, candidate),
    });
    if (terms.configuredKey === undefined) await placeKey(folder, key);
    return { facts, replaced: await takePlace(work, folder), erasures: own.length === 0 ? null : erasures };
  } finally {
    await rm(work, { recursive: true, force: true });
    await lock.release();
  }
}

/** Decrypts the archive into the folder of the unpacked files, which are not encrypted either. Both are deleted together. */
async function plainArchive(file: string, work: string, identityFile: string | undefined): Promise<string> {
  if (identityFile === undefined) return file;
  const archive = join(work, 'backup.tar.gz');
  await writeFile(archive, '', { mode: 0o600 });
  await writeFile(archive, await decrypted(file, identityFile));
  return archive;
}

/** @param shown name of the archive in messages */
async function unpack(file: string, into: string, shown: string): Promise<void> {
  const tar = async (...args: string[]): Promise<string> => {
    const run = runTar(args, ['ignore', 'pipe', 'pipe']);
    let listed = '';
    run.child.stdout!.setEncoding('utf8').on('data', (text: string) => (listed += text));
    await run.done;
    return listed;
  };
  const listing = await tar('-tzf', file).catch((error: unknown) => {
    throw error instanceof BackupError && error.kind === 'failed' ? notOurs(shown) : error;
  });
  const names = listing.split('\n').filter(Boolean);
  const strange = names.some((name) => (name !== factsFile && !name.startsWith('postgres/')) || name.includes('../'));
  // Each line of the long listing begins with the kind of its entry. A link or a device could lead a later entry, or
  // the store itself, to files outside the folder.
  const kinds = new Set(
    (await tar('-tvzf', file))
      .split('\n')
      .filter(Boolean)
      .map((line) => line[0]!),
  );
  const isPlain = [...kinds].every((kind) => kind === '-' || kind === 'd');
  if (strange || !isPlain || !names.includes(factsFile) || !names.includes('postgres/PG_VERSION')) {
    throw notOurs(shown);
  }
  await tar('-C', into, '-xzof', file); // "o": files belong to the user who restores
  if (!(await holdsPlainFilesOnly(into))) throw notOurs(shown);
}

/**
 * Whether a folder contains only folders and regular files without further hard links. Not every tar reports hard links
 * in its listing.
 */
async function holdsPlainFilesOnly(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    if (!entry.isFile() || (await lstat(join(entry.parentPath, entry.name))).nlink > 1) return false;
  }
  return true;
}

function notOurs(file: string): BackupError {
  return new BackupError(
    'unusable',
    `${file} is not a complete backup of an embedded store: give a file that "pigeonpost backup" wrote`,
  );
}

async function refuseNewer({ migration, pigeonpost }: BackupFacts): Promise<void> {
  const known = await newestMigration();
  if (migration <= known) return;
  throw new BackupError(
    'unusable',
    `pigeonpost ${pigeonpost} made the backup with migration ${migration}, and this version supports ${known}: restore it with that version`,
  );
}

function refuseOther(file: string, { ledger }: BackupFacts, present: ErasureList): void {
  if (ledger === present.ledger) return;
  throw new BackupError(
    'otherLedger',
    `${file} is a backup of another ledger (${ledger}) than the present one (${present.ledger}): check "store", or add --other-ledger to replace it anyway`,
  );
}

interface UpToDate {
  readonly mark: string;
  readonly lists: readonly ErasureList[];
  readonly keyOf: (db: Database) => Promise<LedgerKey>;
}

/** @returns the number of erasures that were applied again, and the key of the ledger */
async function bringUpToDate(
  storeFolder: string,
  { mark, lists, keyOf }: UpToDate,
): Promise<{ erasures: number; key: LedgerKey }> {
  const db = await openEmbedded({ folder: storeFolder });
  try {
    await migrate(db);
    const key = await keyOf(db);
    await db.script(mark);
    let erasures = 0;
    for (const list of lists) erasures += await takeOverErasures(db, list);
    return { erasures, key };
  } finally {
    await db.close();
  }
}

/** @throws {BackupError} kind `key` if there is no key, or if it belongs to another ledger */
async function keyOfBackup(db: Database, file: string, candidate: LedgerKey | undefined): Promise<LedgerKey> {
  const { check } = (await readIdentity(db))!;
  const refuse = (why: string): BackupError =>
    new BackupError(
      'key',
      `${file} ${why}: give the key of its ledger by --key-file FILE, as it was kept apart from the backups`,
    );
  if (candidate === undefined) throw refuse('cannot be used without the key of its ledger, which is in no backup');
  if (!candidate.check.equals(check)) throw refuse('belongs to a ledger with another key');
  return candidate;
}

/**
 * Writes the key file. Call it before the store is replaced: if the process is killed in between, the next start
 * refuses a key that does not match the store, and says so.
 */
async function placeKey(folder: string, key: LedgerKey): Promise<void> {
  const file = join(folder, ledgerKeyFile);
  const present = await readKeyFile(file).catch(() => undefined);
  if (present?.equals(key) === true) return;
  if (existsSync(file)) await rename(file, `${file}.replaced-${stamp(new Date())}`);
  await writeKeyFile(file, key);
}

/**
 * Puts the restored database into its place. If the process is killed in between, the next start ends the exchange
 * (`finishRestore`). Temporal's data goes first: the old store can do without it as well.
 */
async function takePlace(work: string, folder: string): Promise<string | null> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('temporal.sqlite')) await rm(join(folder, name), { force: true });
  }
  const restored = join(folder, restoredName);
  await rename(join(work, 'postgres'), restored);
  syncFolder(folder);
  const place = join(folder, 'postgres');
  const replaced = existsSync(place) ? join(folder, `postgres.replaced-${stamp(new Date())}`) : null;
  if (replaced !== null) await rename(place, replaced);
  await rename(restored, place);
  syncFolder(folder);
  return replaced;
}

/** Formats an instant as `20261121T093000Z`, without colons, which some file systems do not allow in names. */
function stamp(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, '');
}

/**
 * Reads the erasures of the store that will be replaced, because they must be applied to the restored store as well. A
 * store that cannot be read is ignored, because its damage may be the reason for the restore. Opening the store also
 * ends a restore that was killed.
 * @returns undefined if there is no store, or it cannot be read
 * @throws {StoreError} kind `locked` while a process uses it
 */
async function lookAtPresentStore(folder: string): Promise<ErasureList | undefined> {
  if (!['postgres/PG_VERSION', restoredName].some((name) => existsSync(join(folder, name)))) return undefined;
  try {
    const db = await openEmbedded({ folder });
    try {
      return await readErasureList(db);
    } finally {
      await db.close();
    }
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'locked') throw error;
    return undefined;
  }
}
