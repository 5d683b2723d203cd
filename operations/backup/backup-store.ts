import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { BackupError } from './backup-error.js';
import { packStore, withoutTar } from './pack-store.js';
import { postgresTool } from './postgres-tool.js';
import { runTool, type RunningTool } from './run-tool.js';
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

/** What a backup passes through on its way to the disk. */
export type Encrypt = (bytes: BackupBytes) => BackupBytes;

/**
 * Writes a backup, and reads it back before it gets its name. One that is encrypted is read on its way to the encryption,
 * since nothing here can decrypt it.
 * @throws {BackupError}
 */
export async function writeBackup(file: string, bytes: BackupBytes, encrypt?: Encrypt): Promise<void> {
  await writeWhole(file, async (part) => {
    if (encrypt !== undefined) {
      await writeBytes(part, encrypt(readAlong(bytes)));
      return;
    }
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

/** Passes a packed store on, and reads it at the same time. The stream ends with a BackupError if it is no whole archive. */
async function* readAlong(bytes: BackupBytes): BackupBytes {
  const reading = runTool({
    command: 'tar',
    args: ['-tzf', '-'],
    stdio: ['pipe', 'ignore', 'pipe'],
    otherwise: withoutTar,
  });
  const into = reading.child.stdin!;
  into.on('error', () => undefined); // tar has ended: it says why
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
 * Backs up a store in PostgreSQL by its own tool, while everything runs: a snapshot of one instant.
 * @throws {BackupError} kind `tool`, with the command for a machine that has it
 */
export async function dumpPostgres(
  store: Extract<Config['store'], { kind: 'postgres' }>,
  file: string,
  encrypt?: Encrypt,
  environment: Environment = processEnvironment(),
): Promise<void> {
  const { url, variables } = postgresTool(store.url.reveal(), environment);
  await writeWhole(file, async (part) => {
    const target = encrypt === undefined ? [`--file=${part}`] : [];
    const dump = runTool({
      command: 'pg_dump',
      args: ['--format=custom', '--no-owner', '--no-privileges', ...target, `--dbname=${url}`],
      environment: variables,
      stdio: ['ignore', encrypt === undefined ? 'ignore' : 'pipe', 'pipe'],
      otherwise: `install PostgreSQL's client programs, or run where they are: pg_dump --format=custom --no-owner --no-privileges --file=${file} "$DATABASE_URL"`,
    });
    if (encrypt !== undefined) await writeBytes(part, encrypt(outputOf(dump)));
    await dump.done;
  });
}

/** What a program writes. The stream ends with a BackupError if the program fails. */
async function* outputOf({ child, done }: RunningTool): BackupBytes {
  try {
    for await (const piece of child.stdout!) yield piece as Uint8Array;
    await done;
  } finally {
    child.kill();
  }
}
