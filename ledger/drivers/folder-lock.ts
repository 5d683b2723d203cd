import { codeOf } from '../../base/errors.js';
import { whyNotWritable } from '../../base/writable-folder.js';
import { spawn } from 'node:child_process';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from './store-error.js';

/** An exclusive lock on a folder, held until `release` or the end of this process, even if it is killed. */
export interface FolderLock {
  readonly folder: string;
  /** A second call does nothing. */
  release(): Promise<void>;
}

/** Exit code of a locking program if another process holds the lock. Its own failures have other codes. */
const isHeldExitCode = 75;

/** `+<&=` reuses the descriptor for reading and writing, which flock requires on some systems. */
const perlLock =
  'open(my $file, "+<&=", 3) or exit 2;' +
  ` exit(flock($file, LOCK_EX | LOCK_NB) ? 0 : $! == EWOULDBLOCK ? ${isHeldExitCode} : 2);`;

type LockProgram = readonly [command: string, args: readonly string[]];

/**
 * Programs that lock the open file that they inherit as descriptor 3, because Node has no flock. The lock belongs to
 * the open file. It therefore stays with this process after the program ends, and disappears with this process even
 * after a SIGKILL, so no stale lock remains. `flock` is part of util-linux; Perl exists on systems without it (macOS).
 */
export const lockPrograms: readonly LockProgram[] = [
  ['flock', ['-x', '-n', '-E', String(isHeldExitCode), '3']],
  ['perl', ['-e', `use Fcntl ":flock"; use Errno qw(EWOULDBLOCK); ${perlLock}`]],
];

/**
 * Creates the folder if needed and locks it against other processes and against a second use by this one. The file
 * `lock` in it is never deleted, because two processes could then lock two different files of this name. Child
 * processes do not inherit the lock, because Node opens files close-on-exec.
 * @param programs locking programs to try in order; tests give only one
 * @throws {StoreError} kind `locked`, naming the folder and, if known, the process that holds it
 */
export async function lockFolder(folder: string, programs = lockPrograms): Promise<FolderLock> {
  const file = await openLockFile(folder);
  try {
    await lockFile(file, folder, programs);
    await file.truncate();
    await file.write(`${process.pid}\n`);
  } catch (error) {
    await file.close();
    throw error;
  }
  let isHeld = true;
  return {
    folder,
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await file.close();
    },
  };
}

/** Opens the lock file, and creates the folder if needed. Other users of this machine cannot read the folder. */
async function openLockFile(folder: string): Promise<FileHandle> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await open(join(folder, 'lock'), 'a+', 0o600);
  } catch (error) {
    throw unusable(folder, codeOf(error));
  }
}

function unusable(folder: string, code: string): StoreError {
  const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'other';
  return new StoreError(
    kind,
    `the folder ${folder} cannot be used (${code}): check that pigeonpost may create it and write to it`,
  );
}

/**
 * Refuses a folder that `lockFolder` could not create or write to, without creating it.
 * @throws {StoreError} as `lockFolder`
 */
export function refuseUnwritable(folder: string): void {
  const code = whyNotWritable(folder);
  if (code !== undefined) throw unusable(folder, code);
}

async function lockFile(file: FileHandle, folder: string, programs: readonly LockProgram[]): Promise<void> {
  for (const [command, args] of programs) {
    const exitCode = await exitCodeOf(command, args, file.fd);
    if (exitCode === 0) return;
    if (exitCode === isHeldExitCode) throw new StoreError('locked', await heldMessage(file, folder));
    if (exitCode !== undefined) {
      throw new StoreError('other', `${folder} cannot be locked on its file system: put the store on a local disk`);
    }
  }
  throw new StoreError('other', `${folder} cannot be locked: install "flock" (util-linux) or Perl`);
}

/** Returns the program's exit code; undefined if the program does not exist. */
function exitCodeOf(command: string, args: readonly string[], fd: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.once('error', () => resolve(undefined));
    child.once('exit', (code) => resolve(code ?? -1));
  });
}

async function heldMessage(file: FileHandle, folder: string): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(32), position: 0 });
  const holder = Number(buffer.toString('latin1', 0, bytesRead).trim());
  const who = Number.isInteger(holder) && holder > 0 ? `process ${holder}` : 'another process';
  return `the folder ${folder} is in use by ${who}: stop that process, or use another folder`;
}
