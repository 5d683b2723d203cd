import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, statfs } from 'node:fs/promises';

/** The calls of node:fs/promises that the sink makes; a test gives others, to fail where a disk would. */
export interface FileAccess {
  readonly lstat: typeof lstat;
  readonly mkdir: typeof mkdir;
  readonly open: typeof open;
  readonly readdir: typeof readdir;
  readonly readFile: typeof readFile;
  readonly rename: typeof rename;
  readonly rm: typeof rm;
  readonly rmdir: typeof rmdir;
  readonly stat: typeof stat;
  readonly statfs: typeof statfs;
}

export const nodeFileAccess: FileAccess = { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, statfs };

/** Personal data: readable by the owner and the group only (a umask may restrict it further). */
export const FILE_MODE = 0o640;
export const FOLDER_MODE = 0o750;

/** A link in the place of a file is refused with ELOOP: it could lead out of the folder. */
export const NO_FOLLOW = constants.O_NOFOLLOW;

/** The code of a failed call, such as ENOSPC; undefined for an error that has none. */
export function errorCode(error: unknown): string | undefined {
  // Not instanceof: errors of Node's own modules come from another realm where code runs in a context of its own.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Makes the entries of a folder durable: a new file survives a power loss only once its folder is synced too.
 * File systems that cannot sync a folder (some network and Windows ones) say so with EINVAL, ENOTSUP, EPERM or EISDIR;
 * there is nothing better to do on them.
 */
export async function syncFolder(folder: string, access: FileAccess): Promise<void> {
  try {
    const handle = await access.open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(errorCode(error) ?? '')) throw error;
  }
}
