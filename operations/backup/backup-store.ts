import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, dirname, resolve } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { BackupError } from './backup-error.js';
import { packStore, withoutTar, runTool } from './pack-store.js';
import { open, rename, rm } from 'node:fs/promises';
import { syncFolder } from '../../ledger/drivers/sync-folder.js';

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
    await use((await packStore(db, folder)).bytes);
  } finally {
    await db.close();
  }
}

/** Encrypts a backup on its way to the disk. */
export type Encrypt = (bytes: BackupBytes) => BackupBytes;

/**
 * Writes a backup and checks that it can be read before the file gets its name. An encrypted backup is checked before it
 * is encrypted, because this process cannot decrypt it.
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

/** Passes a packed store on and checks it at the same time. If it is not a complete archive, the stream ends with a BackupError. */
async function* readAlong(bytes: BackupBytes): BackupBytes {
  const reading = runTool({
    command: 'tar',
    args: ['-tzf', '-'],
    stdio: ['pipe', 'ignore', 'pipe'],
    otherwise: withoutTar,
  });
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
 * Writes a file under a temporary name and renames it once it is complete and on the disk, so that a file with a backup's
 * name is always complete. No other user of this machine may read it.
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

/** Appends a stream to a file. */
export async function writeBytes(part: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(part, 'w');
  try {
    for await (const piece of bytes) await file.appendFile(piece);
  } finally {
    await file.close();
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
