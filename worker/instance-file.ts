import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../work/collaborators.js';
import type { Config } from '../operations/load-process-config.js';

/** The content of the file by which commands of the same user find the running process that serves the API. */
export interface InstanceFile {
  readonly url: string;
  /** The ledger's id. */
  readonly ledger: string;
  readonly pid: number;
}

/** The parts of a configuration that determine the file's path. A store of unknown kind is treated as a database. */
export type InstancePlace = Pick<Config, 'folder' | 'file'> & {
  readonly store: { readonly kind: 'embedded'; readonly folder: string } | { readonly kind: 'postgres' | 'unknown' };
};

function placeOf({ store, folder, file }: InstancePlace): string {
  return store.kind === 'embedded'
    ? join(store.folder, 'api.instance')
    : join(folder, '.pigeonpost', `${basename(file)}.instance`);
}

/**
 * Writes the file. A later process of the same installation replaces it.
 * @returns a function that deletes it unless another process has replaced it
 * @throws errors of the file system, such as for a read-only folder
 */
function writeInstanceFile(place: InstancePlace, instance: InstanceFile): () => void {
  const file = placeOf(place);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // This folder may be inside a repository, so the file is excluded from it, like the token.
  if (place.store.kind !== 'embedded') writeFileSync(join(dirname(file), '.gitignore'), '*\n');
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
    log.debug(
      { error: error instanceof Error ? error.message : String(error) },
      'the address file for commands could not be written',
    );
    return async () => undefined;
  }
}

/**
 * Reads the file. After a kill, it may name a process that has ended.
 * @returns undefined if it does not exist or cannot be read
 */
export function readInstanceFile(place: InstancePlace): InstanceFile | undefined {
  try {
    const { url, ledger, pid } = JSON.parse(readFileSync(placeOf(place), 'utf8')) as Partial<InstanceFile>;
    return typeof url === 'string' && URL.canParse(url) && typeof ledger === 'string' && typeof pid === 'number'
      ? { url, ledger, pid }
      : undefined;
  } catch {
    return undefined;
  }
}
