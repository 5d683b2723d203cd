import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { lockFolder } from '../../ledger/drivers/folder-lock.js';
import { syncFolder } from '../../ledger/drivers/sync-folder.js';
import { migrate, newestMigration } from '../../ledger/migrate.js';
import { markRestored, type RestoredFrom } from '../../ledger/mark-restored.js';
import { type ErasureList, takeOverErasures } from '../../ledger/queries/erasures/erasure-list.js';
import { BackupError } from './backup-error.js';
import { type BackupFacts, factsFile, readBackupFacts } from './backup-facts.js';
import { lookAtPresentStore } from './look-at-present-store.js';
import { withoutTar } from './pack-store.js';
import { runTool } from './run-tool.js';

export interface RestoredStore {
  readonly facts: BackupFacts;
  /** Where the store that was there stands now; null: there was none. */
  readonly replaced: string | null;
  /** So many erasures go on, since the backup was made before them; null: nobody knows which there were. */
  readonly erasures: number | null;
}

export interface RestoreTerms {
  /** Whom the ledger kept away before, by a list that was exported; null: none was given. */
  readonly erasures: ErasureList | null;
  /** The backup may be of another ledger than the one that it replaces. */
  readonly otherLedger: boolean;
}

/**
 * Puts a backup in the place of an embedded store. It is unpacked, brought up to date and marked beside it, and takes its
 * place by a rename: a kill leaves the one or the other, and none that would send without a look. What was there is kept.
 * Temporal's data are of the time after the backup, and hold nothing that the ledger lacks: they go. Who was forgotten
 * since is forgotten again, by what the store that was there and the list that is given know.
 * @throws {BackupError}; {LedgerError} kind `otherLedger`; {StoreError} kind `locked` while a process uses the folder
 */
export async function restoreEmbedded(
  file: string,
  folder: string,
  mark: Omit<RestoredFrom, 'madeAt'>,
  terms: RestoreTerms,
): Promise<RestoredStore> {
  if (!existsSync(file)) throw new BackupError('missing', `there is no file ${file}`);
  const present = await lookAtPresentStore(folder);
  const lock = await lockFolder(folder);
  const work = await mkdtemp(join(folder, 'postgres.new-'));
  try {
    await unpack(file, work);
    const facts = await readBackupFacts(work);
    await refuseNewer(facts);
    if (present !== undefined && !terms.otherLedger) refuseOther(file, facts, present);
    const lists = [present, terms.erasures].filter((list) => list != null);
    const own = lists.filter((list) => list === terms.erasures || list.ledger === facts.ledger);
    const erasures = await bringUpToDate(work, markRestored({ ...mark, madeAt: new Date(facts.madeAt) }), own);
    return { facts, replaced: await takePlace(work, folder), erasures: own.length === 0 ? null : erasures };
  } finally {
    await rm(work, { recursive: true, force: true });
    await lock.release();
  }
}

async function unpack(file: string, into: string): Promise<void> {
  const tar = async (...args: string[]): Promise<string> => {
    const run = runTool({ command: 'tar', args, stdio: ['ignore', 'pipe', 'pipe'], otherwise: withoutTar });
    let listed = '';
    run.child.stdout!.setEncoding('utf8').on('data', (text: string) => (listed += text));
    await run.done;
    return listed;
  };
  const names = (await tar('-tzf', file)).split('\n').filter(Boolean);
  const strange = names.some((name) => (name !== factsFile && !name.startsWith('postgres/')) || name.includes('..'));
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
    throw notOurs(file);
  }
  await tar('-C', into, '-xzof', file); // "o": as whoever restores, not as whoever has backed up
  if (!(await holdsPlainFilesOnly(into))) throw notOurs(file);
}

/** Not every tar marks the second name of a file as one. */
async function holdsPlainFilesOnly(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    // oxlint-disable-next-line no-await-in-loop -- some thousand files, of a store that nobody uses
    if (!entry.isFile() || (await lstat(join(entry.parentPath, entry.name))).nlink > 1) return false;
  }
  return true;
}

function notOurs(file: string): BackupError {
  return new BackupError(
    'unusable',
    `${file} is no backup of an embedded store: give one that "pigeonpost backup" made`,
  );
}

async function refuseNewer({ migration, pigeonpost }: BackupFacts): Promise<void> {
  const known = await newestMigration();
  if (migration <= known) return;
  throw new BackupError(
    'unusable',
    `the backup was made by pigeonpost ${pigeonpost}, whose store is at version ${migration}, and this one knows ${known}: restore it with that version`,
  );
}

function refuseOther(file: string, { ledger }: BackupFacts, present: ErasureList): void {
  if (ledger === present.ledger) return;
  throw new BackupError(
    'otherLedger',
    `${file} is a backup of another ledger (${ledger}) than the one that is there (${present.ledger}): check "store", or say --other-ledger to put it in its place all the same`,
  );
}

/** @returns how many erasures go on */
async function bringUpToDate(storeFolder: string, mark: string, lists: readonly ErasureList[]): Promise<number> {
  const db = await openEmbedded({ folder: storeFolder });
  try {
    await migrate(db);
    await db.script(mark);
    let erasures = 0;
    // oxlint-disable-next-line no-await-in-loop -- two of them
    for (const list of lists) erasures += await takeOverErasures(db, list);
    return erasures;
  } finally {
    await db.close();
  }
}

async function takePlace(work: string, folder: string): Promise<string | null> {
  const place = join(folder, 'postgres');
  const replaced = existsSync(place) ? join(folder, `postgres.replaced-${stamp(new Date())}`) : null;
  if (replaced !== null) await rename(place, replaced);
  await rename(join(work, 'postgres'), place);
  for (const name of await readdir(folder)) {
    // oxlint-disable-next-line no-await-in-loop -- a handful
    if (name.startsWith('temporal.sqlite')) await rm(join(folder, name), { force: true });
  }
  syncFolder(folder);
  return replaced;
}

/** `20261121T093000Z`: names of files hold no colon everywhere. */
function stamp(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, '');
}
