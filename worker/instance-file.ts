import { codeOf, messageOf } from '../base/errors.js';
import { whyNotWritable } from '../base/writable-folder.js';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, chmodSync, linkSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../base/log.js';
import type { Config } from '../operations/load-process-config.js';
import { makeToken } from '../api/credentials.js';
import { LocalTokenError } from './failure-kind.js';

/** The content of the file by which commands of the same user find the running process that serves the API. */
export interface InstanceFile {
  readonly url: string;
  /** The ledger's id. */
  readonly ledger: string;
  readonly pid: number;
}

/** The parts of a configuration that determine the paths. A store of unknown kind is treated as a database. */
type InstancePlace = Pick<Config, 'folder' | 'file'> & {
  readonly store: { readonly kind: 'embedded'; readonly folder: string } | { readonly kind: 'postgres' | 'unknown' };
};

/**
 * Returns a file of an installation: in the folder of an embedded store; with PostgreSQL, in `.pigeonpost` beside the
 * configuration, shared by the processes of a machine.
 */
function pathOf({ store, folder, file }: InstancePlace, ending: 'instance' | 'token'): string {
  return store.kind === 'embedded'
    ? join(store.folder, `api.${ending}`)
    : join(folder, '.pigeonpost', `${basename(file)}.${ending}`);
}

/**
 * Creates the folder of such a file. A folder beside a configuration gets a `.gitignore`, because the configuration may
 * be in a repository.
 */
function makeFolderOf(place: InstancePlace, file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (place.store.kind !== 'embedded') writeFileSync(join(dirname(file), '.gitignore'), '*\n');
}

/**
 * Writes the file. A later process of the same installation replaces it.
 * @returns a function that deletes it unless another process has replaced it
 * @throws errors of the file system, such as for a read-only folder
 */
function writeInstanceFile(place: InstancePlace, instance: InstanceFile): () => void {
  const file = pathOf(place, 'instance');
  makeFolderOf(place, file);
  const unfinished = `${file}.${instance.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(instance)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
  return () => {
    if (readInstanceFile(place)?.pid === instance.pid) rmSync(file, { force: true });
  };
}

/**
 * Writes this process's address for commands of the same user. If the file cannot be written, they use the configured
 * address.
 * @returns a function that deletes it
 */
export function noteInstance(
  place: InstancePlace,
  instance: Omit<InstanceFile, 'pid'>,
  log: Pick<Log, 'debug'>,
): () => Promise<void> {
  try {
    const remove = writeInstanceFile(place, { ...instance, pid: process.pid });
    return async () => remove();
  } catch (error) {
    log.debug({ error: messageOf(error) }, 'the address file for commands could not be written');
    return async () => undefined;
  }
}

/**
 * Reads the file. After a kill, it may name a process that has ended.
 * @returns undefined if it does not exist or cannot be read
 */
export function readInstanceFile(place: InstancePlace): InstanceFile | undefined {
  try {
    const { url, ledger, pid } = JSON.parse(readFileSync(pathOf(place, 'instance'), 'utf8')) as Partial<InstanceFile>;
    return typeof url === 'string' && URL.canParse(url) && typeof ledger === 'string' && typeof pid === 'number'
      ? { url, ledger, pid }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Re-exports the API's rules, by which a command verifies that the intended pigeonpost answers. */
export { type InstanceAnswer, isSameProof, prove, realPath, storeName } from '../api/credentials.js';
export { proofKey, tokenIdOf } from '../api/credentials.js';

const tokenForm = /^pp_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/;

/**
 * Returns the file of the administrator's token that pigeonpost creates for commands of its own user. Only the user who
 * runs pigeonpost can read it. Backups do not contain it.
 */
export function localTokenFile(place: InstancePlace): string {
  return pathOf(place, 'token');
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
export function readLocalToken(place: InstancePlace): string | undefined {
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
 * Returns the tokens that the process of a configuration may accept from a command. First the one that the process
 * created for commands of its user, because it identifies the installation and its proof is computed fast.
 * @throws {LocalTokenError} if another user runs pigeonpost and `server.token` is not set
 */
export function tokensForCommands(
  config: InstancePlace & { readonly server: Pick<Config['server'], 'token'> },
): readonly string[] {
  const configured = config.server.token?.reveal();
  const given = configured === undefined ? [] : [configured];
  try {
    const local = readLocalToken(config);
    return local === undefined ? given : [local, ...given];
  } catch (error) {
    if (configured === undefined) throw error;
    return given;
  }
}

/**
 * Reads the token, or creates it if there is none. If several processes create it at the same time, all use the same
 * token.
 * @throws {LocalTokenError} if it cannot be stored
 */
export function keepLocalToken(place: InstancePlace): string {
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
    throw unwritableToken(file, codeOf(error), error);
  }
}

/**
 * Refuses a place where `keepLocalToken` could neither read nor store a token. Changes nothing.
 * @throws {LocalTokenError} as `keepLocalToken`
 */
export function refuseUnwritableToken(place: InstancePlace): void {
  if (readLocalToken(place) !== undefined) return;
  const file = localTokenFile(place);
  const code = whyNotWritable(dirname(file));
  if (code !== undefined) throw unwritableToken(file, code);
}

function unwritableToken(file: string, code: string, cause?: unknown): LocalTokenError {
  return new LocalTokenError(
    `the API token cannot be stored in ${file} (${code}): make the folder writable, or set server.token to \${NAME}`,
    { cause },
  );
}

function makeFile(place: InstancePlace, file: string): string {
  makeFolderOf(place, file);
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${makeToken().text}\n`, { mode: 0o600, flag: 'w', flush: true });
  try {
    if (readLocalToken(place) === undefined) rmSync(file, { force: true }); // a full disk may have left an empty file
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
