import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedPostgresVersion } from './embedded-postgres-version.js';
import { makerExitCodes } from './embedded-messages.js';
import { StoreError } from './store-error.js';
import { syncFolder } from './sync-folder.js';

/**
 * The folder of the database inside a store's folder, made when there is none. Making takes some seconds and happens
 * in a child process and under another name: only a rename declares it whole, so that a kill in between leaves
 * nothing that looks like a store. The caller holds the lock of `storeFolder`.
 * @throws {StoreError} when there is a database of another version, or none can be made
 */
export async function embeddedFolder(storeFolder: string, makerProgram: string): Promise<string> {
  const folder = join(storeFolder, 'postgres');
  await removeUnfinished(storeFolder);
  if (!existsSync(folder)) await make(storeFolder, folder, makerProgram);
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

/** Of a folder in the making. Each attempt has its own: a maker that outlived its parent may still be writing. */
const unfinishedPrefix = 'postgres.new-';

async function make(storeFolder: string, folder: string, makerProgram: string): Promise<void> {
  const unfinished = await mkdtemp(join(storeFolder, unfinishedPrefix));
  const exitCode = await runMaker(makerProgram, unfinished);
  if (exitCode !== 0) {
    await removeUnfinished(storeFolder);
    throw exitCode === makerExitCodes.full
      ? new StoreError(
          'full',
          `no space is left for an embedded store in ${storeFolder}: it needs 100 MB to begin with`,
        )
      : new StoreError('other', `no embedded store could be made in ${storeFolder}: see that it may be written to`);
  }
  await rename(unfinished, folder);
  syncFolder(storeFolder);
}

/** The maker's standard input is a pipe that we hold: it ends when that breaks, because we are gone. */
function runMaker(program: string, folder: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    child.stdin.on('error', () => undefined);
    child.once('error', () => resolve(makerExitCodes.failed));
    child.once('exit', (code) => resolve(code ?? makerExitCodes.failed));
  });
}

async function removeUnfinished(storeFolder: string): Promise<void> {
  for (const name of await readdir(storeFolder)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(storeFolder, name), { recursive: true, force: true });
  }
}
