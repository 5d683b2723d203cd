import { codeOf } from '../../base/errors.js';
import { existsSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import { StoreError } from './store-error.js';

/**
 * The major version of PostgreSQL in PGlite 0.5.16, as in the file PG_VERSION of its folder. Files of another major
 * version cannot be opened.
 */
const embeddedPostgresVersion = '18';

/**
 * Returns the folder of the database inside a store's folder, and creates it if there is none, as a copy of the
 * database that the build created. The copy is made under another name and renamed when it is complete, so that a kill
 * in between leaves nothing that looks like a store. The caller holds the lock of `storeFolder`.
 * @throws {StoreError} if the database has another version, or cannot be created
 */
export async function embeddedFolder(storeFolder: string): Promise<string> {
  const folder = join(storeFolder, 'postgres');
  await removeUnfinished(storeFolder);
  await finishRestore(storeFolder);
  if (!existsSync(folder)) await make(storeFolder, folder);
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) throw new StoreError('other', `${folder} is no embedded store: move it away`);
  if (version.trim() !== embeddedPostgresVersion) {
    throw new StoreError(
      'other',
      `${folder} was written by PostgreSQL ${version.trim()}, this pigeonpost has ${embeddedPostgresVersion}: start the version that wrote it`,
    );
  }
  return folder;
}

/**
 * Returns the folder of the database that the build creates. New stores are copies of it. Code that runs from
 * TypeScript sources uses the last build.
 */
export function newStoreFolder(): string {
  return join(packageRoot(), 'dist/ledger/new-store');
}

/**
 * Returns the file that lists the folders of the new store that are empty. npm leaves such folders out of a package, and
 * PostgreSQL does not start without them.
 */
export function emptyFoldersFile(): string {
  return `${newStoreFolder()}.empty-folders.json`;
}

async function emptyFolders(): Promise<readonly string[]> {
  return JSON.parse(await readFile(emptyFoldersFile(), 'utf8')) as string[];
}

/** Name of a restored database until it takes the place of the old one. It is complete and on disk. */
export const restoredName = 'postgres.restored';

/**
 * Ends a restore that was killed. If the old database was already moved away, the restored one takes its place, because
 * a new and empty store would deliver everything again. Otherwise the old one stays, and the restored one is deleted.
 * The caller holds the lock of `storeFolder`.
 */
async function finishRestore(storeFolder: string): Promise<void> {
  const restored = join(storeFolder, restoredName);
  const folder = join(storeFolder, 'postgres');
  if (!existsSync(restored)) return;
  if (existsSync(folder)) await rm(restored, { recursive: true, force: true });
  else await rename(restored, folder);
  syncFolder(storeFolder);
}

/** Prefix of folders with incomplete copies. Each attempt has its own folder. */
const unfinishedPrefix = 'postgres.new-';

async function make(storeFolder: string, folder: string): Promise<void> {
  const source = newStoreFolder();
  if (!existsSync(source)) {
    throw new StoreError('other', `the embedded store is not built: run "npm run build" (no ${source})`);
  }
  const unfinished = await mkdtemp(join(storeFolder, unfinishedPrefix));
  try {
    await cp(source, unfinished, { recursive: true });
    for (const empty of await emptyFolders()) await mkdir(join(unfinished, empty), { recursive: true });
    await syncAll(unfinished);
    await rename(unfinished, folder);
    syncFolder(storeFolder);
  } catch (error) {
    await removeUnfinished(storeFolder);
    const code = codeOf(error);
    throw code === 'ENOSPC' || code === 'EDQUOT'
      ? new StoreError('full', `no space is left for an embedded store in ${storeFolder}: a new store needs 100 MB`)
      : new StoreError(
          'other',
          `no embedded store could be made in ${storeFolder} (${code}): check that pigeonpost may write to the folder`,
        );
  }
}

/**
 * Syncs all files of the copy to disk. The rename that follows marks the copy as complete, so everything must be on
 * disk by then.
 */
async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const handle = await open(join(entry.parentPath, entry.name), 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
  syncFolder(folder);
}

async function removeUnfinished(storeFolder: string): Promise<void> {
  for (const name of await readdir(storeFolder)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(storeFolder, name), { recursive: true, force: true });
  }
}

/** Makes created, renamed and deleted names in a folder survive a power cut. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
