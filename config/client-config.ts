import { dirname, normalize, resolve } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from './config-error.js';
import type { Config, ServerConfig } from './config.js';
import { withEnvironmentDefaults } from './environment-defaults.js';
import { readConfigFile } from './read-config-file.js';
import { type Environment, processEnvironment } from './environment.js';
import { parseTree } from './parse-tree.js';
import { type ConfigDocument, namesAt, readDocument, valueAt } from './read-document.js';
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
 * Reads what can still be read of a file that `loadClientConfig` refuses, so that commands find the process that runs
 * with an earlier content of the file. The keys of the first level are read one by one, and those that cannot be read
 * have their defaults. Never throws for the content of the file.
 * @returns one configuration for each place where the process may have noted its address, the most probable one first
 */
export async function salvageClientConfigs(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<ClientConfig[]> {
  const [shownFile, absoluteFile] = [normalize(file), resolve(file)];
  const folder = dirname(absoluteFile);
  const text = await readConfigFile(absoluteFile, shownFile).catch(() => '');
  const sections = sectionsOf(text);
  const documentOf = (key: string): ConfigDocument | undefined => {
    try {
      return withEnvironmentDefaults(
        readDocument(sections.get(key) ?? '{}', shownFile, { environment, folder }),
        environment,
      );
    } catch {
      return undefined;
    }
  };
  const settingOf = <Schema extends z.ZodType>(key: string, schema: Schema): z.output<Schema> | undefined => {
    const document = documentOf(key);
    if (document === undefined || document.isBroken([key])) return undefined;
    const parsed = parseTree(schema, valueAt(document.tree, [key]), document, [key]);
    return 'problems' in parsed ? undefined : parsed.value;
  };
  const namesOf = (key: string): string[] => namesAt(documentOf(key)?.tree, [key]);
  const store = settingOf('store', storeSchema);
  const inEmbedded: StoreSetting = { kind: 'embedded', folder: resolve(folder, './data') };
  const places: ClientConfig['store'][] = [
    ...(store === undefined ? [] : [absoluteStore(store, folder)]),
    inEmbedded,
    { kind: 'unknown' },
  ];
  return places.map((place) => ({
    file: absoluteFile,
    folder,
    store: place,
    server: settingOf('server', serverSchema) ?? serverSchema.parse({}),
    workspaces: namesOf('workspaces'),
    sinks: namesOf('sinks'),
    hasAlerts: sections.has('alerts'),
  }));
}

/** Splits a text into the lines of each key of the first level. */
function sectionsOf(text: string): Map<string, string> {
  const sections = new Map<string, string>();
  let key = '';
  for (const line of text.split('\n')) {
    key = /^([A-Za-z]\w*)\s*:/.exec(line)?.[1] ?? (/^[^\s#]/.test(line) ? '' : key);
    if (key !== '') sections.set(key, `${sections.get(key) ?? ''}${line}\n`);
  }
  return sections;
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
