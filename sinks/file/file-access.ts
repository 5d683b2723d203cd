import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import type { Outcome } from '../sink.js';

/**
 * The functions of node:fs/promises that the sink calls. Tests replace them with functions that fail as a disk would.
 */
export interface FileAccess {
  readonly lstat: typeof lstat;
  readonly mkdir: typeof mkdir;
  readonly open: typeof open;
  readonly readdir: typeof readdir;
  readonly readFile: typeof readFile;
  readonly rename: typeof rename;
  readonly rm: typeof rm;
  readonly stat: typeof stat;
  readonly statfs: typeof statfs;
}

export interface Folder {
  readonly root: string;
  readonly access: FileAccess;
}

export const nodeFileAccess: FileAccess = { lstat, mkdir, open, readdir, readFile, rename, rm, stat, statfs };

/**
 * Only the owner and the group may read the files, because they contain personal data. A umask may restrict this
 * further.
 */
export const FILE_MODE = 0o640;
export const FOLDER_MODE = 0o750;

/** Makes the system refuse a link in the place of a file (ELOOP), because a link could lead out of the folder. */
export const NO_FOLLOW = constants.O_NOFOLLOW;

/** Returns the code of a failed call, such as ENOSPC; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  // Does not use instanceof, because errors of Node's own modules come from another realm if the code runs in a
  // separate context (as in Jest).
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Makes the entries of a folder durable. A new file survives a power loss only after its folder was synced as well.
 * Some file systems (network and Windows ones) cannot sync a folder and report EINVAL, ENOTSUP, EPERM or EISDIR. These
 * errors are ignored, because nothing else can be done there.
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

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free space there',
  EDQUOT: 'the disk quota is used up: free space there or raise the quota',
  EACCES: 'the file system does not permit it: give this user the right to read and write there',
  EPERM: 'the file system does not permit it: give this user the right to read and write there',
  EROFS: 'the file system is read-only: mount it for writing',
  EIO: 'the disk reports an error: check the system log',
  EFBIG: 'the file has reached the largest size that is allowed there: raise the limit',
  EMFILE: 'this process has too many files open: raise its limit',
  ENFILE: 'the machine has too many files open: raise its limit',
};

const READING_CALLS = new Set(['read', 'scandir', 'stat', 'lstat', 'fstat', 'statfs']);

/**
 * Classifies a failed file-system call. `retry`: the condition is temporary, or an operator can fix it on the machine.
 * `pause`: the folder or a file is not as this sink left it. In both cases, no change is lost.
 */
export function classifyFailure(error: unknown, folder: string): Extract<Outcome, { kind: 'retry' | 'pause' }> {
  if (error instanceof DestinationChanged) return { kind: 'pause', cause: 'destination', detail: error.message };
  const code = errorCode(error) ?? 'no known cause';
  if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'EISDIR') {
    const detail = `${folder} holds a link, a file or a folder where something else is expected (${code}): remove it`;
    return { kind: 'pause', cause: 'destination', detail };
  }
  const call = systemCall(error) ?? '';
  const action = call === 'open' ? 'opened' : READING_CALLS.has(call) ? 'read' : 'written';
  return { kind: 'retry', detail: `${folder} could not be ${action}: ${SENTENCES[code] ?? code}` };
}

/** Returns the name of the system call that failed; undefined if the error has none. */
function systemCall(error: unknown): string | undefined {
  const call = typeof error === 'object' && error !== null && 'syscall' in error ? error.syscall : undefined;
  return typeof call === 'string' ? call : undefined;
}

/**
 * Thrown if the folder or a file in it is not as this sink left it, so that further writes could lose or mix data. The
 * message says what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
