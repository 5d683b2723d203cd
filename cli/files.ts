import { codeOf } from '../base/errors.js';
import { createHash } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError, ExitCode, wrongUse } from './exit-code.js';

/** Returns the path of the file for generated codes, such as `people.codes.csv` beside `people.xlsx`. Pure. */
export function codesFileOf(file: string): string {
  return join(dirname(file), `${basename(file, extname(file))}.codes.csv`);
}

/** @throws {CommandError} if the path is not a readable file */
export async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => unreadable(file, error));
  if (!found.isFile()) throw wrongUse(`${file} is not a file: give the path of a file`);
}

/** @throws {CommandError} that says why the file cannot be read */
export function unreadable(file: string, error: unknown): never {
  const code = codeOf(error);
  const why = code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`;
  throw wrongUse(`${file}: ${why}; check the path`, { cause: error });
}

/** @throws {CommandError} if the output would overwrite the imported file */
export function requireOtherFile(option: string, written: string | undefined, imported: string): void {
  if (written === undefined || resolve(written) !== resolve(imported)) return;
  throw wrongUse(`${option} is the imported file itself: choose another path`);
}

/** Checks before the import that its result can be written. @throws {CommandError} if the folder is not writable */
export async function requireWritable(option: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  await requireReplaceable(file);
  await access(dirname(resolve(file)), constants.W_OK).catch((error: unknown) => {
    throw wrongUse(`${option}: ${file} cannot be written (${codeOf(error)}): check the path and its permissions`, {
      cause: error,
    });
  });
}

/**
 * Checks that a path may be replaced.
 * @throws {CommandError} if it exists and is not a regular file (a folder, /dev/stdout), because the rename would
 * replace it
 */
async function requireReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile()) {
    throw wrongUse(`${file} exists and is not a regular file: choose another path`);
  }
}

/** Checks that a path is not used. @throws {CommandError} exit 1 if something exists there */
export async function requireFree(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return;
  throw new CommandError(ExitCode.Failed, `${file} already exists: choose another path, or add --force`);
}

/**
 * Writes a complete file or nothing, through a temporary file that is removed on failure.
 * @param options.keep refuses to replace a file with other content
 * @param options.replace false: refuses to replace any file, also one that appears meanwhile
 */
export async function writeWholeFile(
  file: string,
  parts: AsyncIterable<string | Uint8Array>,
  { keep = false, replace = true }: { readonly keep?: boolean; readonly replace?: boolean } = {},
): Promise<void> {
  await requireReplaceable(file);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await pipeline(parts, createWriteStream(draft, { flags: 'wx', mode: 0o600 })); // personal data: readable only by the operator
    if (keep && (await isAnother(file, draft))) {
      throw wrongUse(`${file} already exists with other codes: move it first, because pigeonpost does not replace it`);
    }
    if (!replace) await requireFree(file);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof CommandError) throw error;
    throw notWritten(file, error);
  }
}

async function isAnother(file: string, draft: string): Promise<boolean> {
  const stands = await stat(file).catch(() => undefined);
  return stands !== undefined && (await digestOf(file)) !== (await digestOf(draft));
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Creates a file that only its owner can read. Never overwrites a file. @throws {CommandError} exit 1 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw notWritten(file, error);
    throw new CommandError(ExitCode.Failed, `${file} already exists: choose another path`, { cause: error });
  });
}

function notWritten(file: string, cause: unknown): CommandError {
  const message = `${file} cannot be written (${codeOf(cause)}): check the path and its permissions`;
  return new CommandError(ExitCode.Failed, message, { cause });
}
