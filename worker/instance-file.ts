import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../work/collaborators.js';
import type { Config } from '../operations/load-process-config.js';

/** Where the running process that serves the API of an installation listens, for commands of the same user. */
export interface InstanceFile {
  readonly url: string;
  /** The ledger's id. */
  readonly ledger: string;
  readonly pid: number;
}

/** What of a configuration says where the file is. A store of unknown kind is treated as a database. */
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
 * @returns deletes it, unless another process has replaced it
 * @throws what the file system throws, such as for a folder that is read-only
 */
function writeInstanceFile(place: InstancePlace, instance: InstanceFile): () => void {
  const file = placeOf(place);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // As for the token: this folder stands among files that may be versioned.
  if (place.store.kind !== 'embedded') writeFileSync(join(dirname(file), '.gitignore'), '*\n');
  const unfinished = `${file}.${instance.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(instance)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
  return () => {
    if (readInstanceFile(place)?.pid === instance.pid) rmSync(file, { force: true });
  };
}

/**
 * Tells commands of the same user where this process listens. Where the file cannot be written, they use the address that
 * the configuration says. @returns what deletes it
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
      'the address was not noted for commands',
    );
    return async () => undefined;
  }
}

/** @returns undefined when there is none, or none that can be read. After a kill it is of a process that has ended. */
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
