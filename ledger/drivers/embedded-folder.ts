import { existsSync } from 'node:fs';
import { cp, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import { StoreError } from './store-error.js';
import { syncFolder } from './sync-folder.js';

/** The major version inside PGlite 0.5.16, as PG_VERSION in its folder has it. Files of another one cannot be opened. */
const embeddedPostgresVersion = '18';

/**
 * The folder of the database inside a store's folder, made when there is none. It is a copy of the one that the build
 * made, written under another name: only a rename declares it whole, so that a kill in between leaves nothing that
 * looks like a store. The caller holds the lock of `storeFolder`.
 * @throws {StoreError} when there is a database of another version, or none can be made
 */
export async function embeddedFolder(storeFolder: string): Promise<string> {
  const folder = join(storeFolder, 'postgres');
  await removeUnfinished(storeFolder);
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

/** Folder of the database that the build makes and new stores copy. Code that runs from its sources uses the last build. */
export function newStoreFolder(): string {
  return join(packageRoot(), 'dist/ledger/new-store');
}

/** Prefix of a folder whose copy is not complete. Each attempt has its own. */
const unfinishedPrefix = 'postgres.new-';

async function make(storeFolder: string, folder: string): Promise<void> {
  const source = newStoreFolder();
  if (!existsSync(source)) {
    throw new StoreError('other', `the embedded store is not built: run "npm run build" (no ${source})`);
  }
  const unfinished = await mkdtemp(join(storeFolder, unfinishedPrefix));
  try {
    await cp(source, unfinished, { recursive: true });
    await syncAll(unfinished);
    await rename(unfinished, folder);
    syncFolder(storeFolder);
  } catch (error) {
    await removeUnfinished(storeFolder);
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT'
      ? new StoreError(
          'full',
          `no space is left for an embedded store in ${storeFolder}: it needs 100 MB to begin with`,
        )
      : new StoreError(
          'other',
          `no embedded store could be made in ${storeFolder} (${code}): see that it may be written to`,
        );
  }
}

/** The rename that follows declares the copy whole, so all of it has to be on the disk by then. */
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
