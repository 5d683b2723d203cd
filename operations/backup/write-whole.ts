import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncFolder } from '../../ledger/drivers/sync-folder.js';
import { BackupError } from './backup-error.js';

/**
 * Has a file written under another name, and gives it its own only when it is whole and on the disk: what is called a
 * backup is one. Nobody else on this machine may read it.
 * @throws {BackupError} kind `inUse` when there is such a file
 */
export async function writeWhole(file: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = `${file}.part`;
  await refuseExisting(file);
  try {
    const made = await open(part, 'w', 0o600);
    await made.chmod(0o600); // an older part may be anybody's
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
    throw new BackupError('failed', `${file} cannot be written (${code}): give another place`, { cause: error });
  }
}

/** Piece by piece, as fast as they are taken. */
export async function writeBytes(part: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(part, 'w');
  try {
    for await (const piece of bytes) await file.appendFile(piece);
  } finally {
    await file.close();
  }
}

/** To standard output. */
export async function passOn(bytes: AsyncIterable<Uint8Array>, out: NodeJS.WritableStream): Promise<void> {
  for await (const piece of bytes) if (!out.write(piece)) await once(out, 'drain');
}

async function refuseExisting(file: string): Promise<void> {
  const found = await open(file, 'r').catch(() => undefined);
  if (found === undefined) return;
  await found.close();
  throw new BackupError('inUse', `${file} exists: give another name, an older backup is never overwritten`);
}
