import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeToken } from '../api/credentials.js';
import type { InstancePlace } from './instance-file.js';
import { LocalTokenError } from './failure-kind.js';

/** The parts of a configuration that determine the token's path. */
type TokenPlace = InstancePlace;

const tokenForm = /^pp_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/;

/**
 * Returns the file of the administrator's token that pigeonpost creates if `server.token` is not set: in the folder of
 * an embedded store; with PostgreSQL, in `.pigeonpost` beside the configuration, shared by the processes of a machine.
 * Only the user who runs pigeonpost can read it. Backups do not contain it.
 */
export function localTokenFile({ store, folder, file }: TokenPlace): string {
  return store.kind === 'embedded'
    ? tokenFileOfStore(store.folder)
    : join(folder, '.pigeonpost', `${basename(file)}.token`);
}

/** Returns the token file of an embedded store. */
export function tokenFileOfStore(folder: string): string {
  return join(folder, 'api.token');
}

/**
 * Reads the token for a command of the same user.
 * @returns undefined if no process has created one yet
 * @throws {LocalTokenError} if another user runs pigeonpost
 */
export function readLocalToken(place: TokenPlace): string | undefined {
  const file = localTokenFile(place);
  try {
    const text = readFileSync(file, 'utf8').trim();
    return tokenForm.test(text) ? text : undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new LocalTokenError(
      `the token in ${file} cannot be read (${code}): run the command as the user who runs pigeonpost, or ask for a named token and set server.token to it in a configuration of your own`,
      { cause: error },
    );
  }
}

/**
 * Reads the token, or creates it if there is none. If several processes create it at the same time, all use the same
 * token.
 * @throws {LocalTokenError} if it cannot be stored
 */
export function keepLocalToken(place: TokenPlace): string {
  const file = localTokenFile(place);
  try {
    const present = readLocalToken(place);
    if (present !== undefined) {
      // A copy of the folder may have lost its permissions.
      if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
      return present;
    }
    return makeFile(place, file);
  } catch (error) {
    if (error instanceof LocalTokenError) throw error;
    throw new LocalTokenError(
      `the API token cannot be stored in ${file} (${codeOf(error)}): make the folder writable, or set server.token to \${NAME}`,
      { cause: error },
    );
  }
}

function makeFile(place: TokenPlace, file: string): string {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // This folder, unlike that of an embedded store, may be inside a repository.
  if (place.store.kind !== 'embedded') writeFileSync(join(folder, '.gitignore'), '*\n');
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${makeToken().text}\n`, { mode: 0o600, flag: 'w', flush: true });
  try {
    rmUnusable(place, file);
    linkSync(unfinished, file); // atomic, and never replaces another process's file
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
  const made = readLocalToken(place);
  if (made === undefined) throw new LocalTokenError(`${file} holds no token: delete it and start again`);
  return made;
}

/** Deletes an empty file that a full disk may have left. */
function rmUnusable(place: TokenPlace, file: string): void {
  if (readLocalToken(place) === undefined) rmSync(file, { force: true });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
