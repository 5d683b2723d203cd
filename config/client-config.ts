import { dirname, normalize, resolve } from 'node:path';
import { ConfigError } from './config-error.js';
import type { Config, ServerConfig } from './config.js';
import { withEnvironmentDefaults, readConfigFile } from './load-config.js';
import { type Environment, processEnvironment } from './environment.js';
import { parseTree } from './parse-tree.js';
import { namesAt, readDocument, valueAt } from './read-document.js';
import { serverSchema, ledgerKeySchema, absoluteStore, storeSchema, type StoreSetting } from './schema/process.js';

/** A store whose URL is in a variable that is not set for this command. */
interface UnknownStore {
  readonly kind: 'unknown';
}

/**
 * The part of pigeonpost.yaml that a command needs to call a running pigeonpost: its address, its token and the names
 * in the file. The running process uses the rest and has the secrets.
 */
export interface ClientConfig {
  /** Absolute path of the file. */
  readonly file: string;
  /** Absolute path of the folder that contains the file. */
  readonly folder: string;
  readonly store: StoreSetting | UnknownStore;
  readonly server: Pick<ServerConfig, 'host' | 'port' | 'publicUrl' | 'token'>;
  readonly workspaces: readonly string[];
  readonly sinks: readonly string[];
  /** Whether the file names receivers of alerts. */
  readonly hasAlerts: boolean;
}

/**
 * Reads pigeonpost.yaml for a client command. References outside `server` and `store` may be unset.
 * @throws {ConfigError} if the file cannot be read, is not YAML, or `server` or `store` is invalid
 */
export async function loadClientConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<ClientConfig> {
  const { shownFile, absoluteFile, folder, document } = await openDocument(file, environment);
  const server = parseTree(serverSchema, valueAt(document.tree, ['server']), document, ['server']);
  const ownProblems = document.problems.filter(({ key }) => key === 'server' || key.startsWith('server.'));
  const store = document.isBroken(['store'])
    ? ({ value: { kind: 'unknown' } } as const)
    : parseTree(storeSchema, valueAt(document.tree, ['store']), document, ['store']);
  const problems = [
    ...ownProblems,
    ...('problems' in server ? server.problems : []),
    ...('problems' in store ? store.problems : []),
  ].sort((one, other) => one.line - other.line);
  if (problems.length > 0 || 'problems' in server || 'problems' in store) {
    throw new ConfigError('invalid', shownFile, problems);
  }
  const found = store.value;
  return {
    file: absoluteFile,
    folder,
    store: found.kind === 'unknown' ? found : absoluteStore(found, folder),
    server: server.value,
    workspaces: namesAt(document.tree, ['workspaces']),
    sinks: namesAt(document.tree, ['sinks']),
    hasAlerts: valueAt(document.tree, ['alerts']) !== undefined,
  };
}

/**
 * The part of pigeonpost.yaml for a command that works on the store while no process runs: the store, its key and the
 * names of the sinks.
 */
export type StoreConfig = Pick<Config, 'file' | 'folder' | 'store' | 'ledgerKey'> & Pick<ClientConfig, 'sinks'>;

/**
 * Reads pigeonpost.yaml for a command that works on the store. Only the secrets of `store` and `ledgerKey` have to be
 * set.
 * @throws {ConfigError} if the file cannot be read, is not YAML, or one of these two keys is invalid
 */
export async function loadStoreConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<StoreConfig> {
  const { shownFile, absoluteFile, folder, document } = await openDocument(file, environment);
  const ownProblems = document.problems.filter(({ key }) => key === 'store' || key === 'ledgerKey');
  const store = parseTree(storeSchema, valueAt(document.tree, ['store']), document, ['store']);
  const key = parseTree(ledgerKeySchema, valueAt(document.tree, ['ledgerKey']), document, ['ledgerKey']);
  if (ownProblems.length > 0) throw new ConfigError('invalid', shownFile, ownProblems);
  const problems = [...('problems' in store ? store.problems : []), ...('problems' in key ? key.problems : [])];
  if ('problems' in store || 'problems' in key) throw new ConfigError('invalid', shownFile, problems);
  return {
    file: absoluteFile,
    folder,
    store: absoluteStore(store.value, folder),
    ...(key.value === undefined ? {} : { ledgerKey: key.value }),
    sinks: namesAt(document.tree, ['sinks']),
  };
}

async function openDocument(file: string, environment: Environment) {
  const shownFile = normalize(file);
  const absoluteFile = resolve(file);
  const folder = dirname(absoluteFile);
  const text = await readConfigFile(absoluteFile, shownFile);
  const document = withEnvironmentDefaults(readDocument(text, shownFile, { environment, folder }), environment);
  return { shownFile, absoluteFile, folder, document };
}
