import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { BackupError } from './backup-error.js';
import { packStore, withoutTar } from './pack-store.js';
import { postgresTool } from './postgres-tool.js';
import { runTool } from './run-tool.js';
import { writeBytes, writeWhole } from './write-whole.js';

/** The bytes of a backup, from wherever they come. */
export type BackupBytes = AsyncIterable<Uint8Array>;

/**
 * Backs up an embedded store that no process uses.
 * @throws {BackupError}; {StoreError} kind `locked` when a process uses it: that one has to be asked
 */
export async function packUnusedStore(folder: string, use: (bytes: BackupBytes) => Promise<void>): Promise<void> {
  if (!existsSync(join(folder, 'postgres'))) {
    throw new BackupError('missing', `there is no store in ${folder}: check "store" in the configuration`);
  }
  const db = await openEmbedded({ folder });
  try {
    await use((await packStore(db, folder)).bytes);
  } finally {
    await db.close();
  }
}

/** Writes a backup, and reads it back before it gets its name. @throws {BackupError} */
export async function writeBackup(file: string, bytes: BackupBytes): Promise<void> {
  await writeWhole(file, async (part) => {
    await writeBytes(part, bytes);
    const reading = runTool({
      command: 'tar',
      args: ['-tzf', part],
      stdio: ['ignore', 'ignore', 'pipe'],
      otherwise: withoutTar,
    });
    await reading.done;
  });
}

/**
 * Backs up a store in PostgreSQL by its own tool, while everything runs: a snapshot of one instant.
 * @throws {BackupError} kind `tool`, with the command for a machine that has it
 */
export async function dumpPostgres(
  store: Extract<Config['store'], { kind: 'postgres' }>,
  file: string,
  environment: Environment = processEnvironment(),
): Promise<void> {
  const { url, variables } = postgresTool(store.url.reveal(), environment);
  await writeWhole(file, async (part) => {
    const dump = runTool({
      command: 'pg_dump',
      args: ['--format=custom', '--no-owner', '--no-privileges', `--file=${part}`, `--dbname=${url}`],
      environment: variables,
      stdio: ['ignore', 'ignore', 'pipe'],
      otherwise: `install PostgreSQL's client programs, or run where they are: pg_dump --format=custom --no-owner --no-privileges --file=${file} "$DATABASE_URL"`,
    });
    await dump.done;
  });
}
