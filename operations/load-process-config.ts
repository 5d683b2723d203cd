import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/config.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadConfig, loadConfigText } from '../config/load-config.js';
import type { SinkSchemas } from '../config/parse-sinks.js';
import { allSinks } from '../sinks/all-sinks.js';
import { readFile } from 'node:fs/promises';
import type { Candidate } from './configuration-plan.js';
import { type Json, normalizedConfig } from '../config/normalized-config.js';
import { Secret } from '../config/secret.js';

/** Loads the configuration of a process and checks it with every sink type of this version. @throws {ConfigError} */
export async function loadProcessConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Config> {
  return await loadConfig(file, environment, { sinkSchemas: sinkSchemas() });
}

/** Like `loadProcessConfig`, in a running process: reads `${file:…}` again, but keeps the environment of the start. */
export async function reloadProcessConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Config> {
  return await loadConfig(file, environment, { sinkSchemas: sinkSchemas(), isRunning: true });
}

/**
 * Loads a text as if it were the content of this process's file. The file itself is not changed.
 * @param shownFile name of the text in messages
 * @param running text of the process's own file, if `text` was sent by a client
 * @throws {ConfigError}
 */
export async function loadCandidateConfig(
  text: string,
  place: { readonly shownFile: string; readonly absoluteFile: string },
  environment: Environment = processEnvironment(),
  running?: string,
): Promise<Config> {
  return await loadConfigText(text, place, environment, {
    sinkSchemas: sinkSchemas(),
    running,
    isRunning: running !== undefined,
  });
}

function sinkSchemas(): SinkSchemas {
  return Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));
}

/**
 * Finds mistakes in the file of a command before it calls the running process. Values that only that process has, such
 * as secrets of its environment, are not checked here.
 * @throws {ConfigError}
 */
export async function checkCommandFile(file: string): Promise<void> {
  try {
    await loadProcessConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = error.problems.filter(({ isUnresolved }) => isUnresolved !== true);
    if (wrong.length > 0) throw new ConfigError(error.kind, error.file, wrong);
  }
}

export type { Config };

/**
 * Loads the configuration of a request: its text, or the current content of this process's file. Secrets in a text are
 * replaced by stand-ins, and it may contain only references that this process's file has at the same key.
 * @throws {ConfigError} if it cannot be used
 */
export async function loadCandidate(
  current: Pick<Config, 'file'>,
  { file, text }: Candidate,
  environment?: Environment,
): Promise<Config> {
  const own = current.file;
  const isOwn = text === undefined || file === undefined || file === own;
  if (isOwn) return await reloadProcessConfig(own, environment);
  const running = await readFile(own, 'utf8').catch(() => ''); // if the file cannot be read, the text may contain no references
  return await loadCandidateConfig(text, { shownFile: file, absoluteFile: own }, environment, running);
}

/** Returns a configuration that can be passed to others: with defaults, and without secrets or their fingerprints. */
export function shownSettings(config: Config): Json {
  const { store, temporal, server, network } = config;
  return {
    configuration: normalizedConfig(config, () => '[secret]'),
    store: store.kind === 'embedded' ? `embedded:${store.folder}` : 'PostgreSQL',
    ledgerKey: config.ledgerKey !== undefined,
    temporal: {
      address: temporal.address,
      namespace: temporal.namespace,
      taskQueue: temporal.taskQueue,
      tls: temporal.tls !== undefined,
    },
    server: {
      host: server.host,
      port: server.port,
      token: server.token !== undefined,
      publicUrl: server.publicUrl ?? null,
    },
    network: { proxy: network.proxy !== undefined, ca: network.ca !== undefined },
  };
}

/**
 * Returns, for each variable that a file names or that has a default meaning, whether it is set. Never returns a value.
 */
export async function namedVariables(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Record<string, 'set' | 'empty' | 'not set'>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const withoutComments = text.replaceAll(/(^|\s)#.*$/gm, '$1');
  const named = [...withoutComments.matchAll(/(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)(?=\}|:-)/g)].map(([, name]) => name!);
  const names = [
    ...new Set([...named, 'DATABASE_URL', 'LEDGER_KEY', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'PIGEONPOST_LOG']),
  ];
  const stateOf = (value: string | undefined): 'set' | 'empty' | 'not set' =>
    value === undefined ? 'not set' : value === '' ? 'empty' : 'set';
  return Object.fromEntries(names.toSorted().map((name) => [name, stateOf(environment[name])]));
}

/** Patterns that only secrets and e-mail addresses match. */
export const forms: readonly (readonly [RegExp, string])[] = [
  [/[^\s"'<>@:/]+@[^\s"'<>@:/]+\.[A-Za-z]{2,}/g, '[e-mail]'],
  [/\b(?:whsec_|xox[a-z]-|pat-|sk-|pp[a-z]?_)[\w+/=.-]{4,}/g, '[secret]'],
  [/\b(Bearer|Basic)\s+[\w+/=.~-]{8,}/gi, '$1 [secret]'],
  [/:\/\/[^\s/@"']+@/g, '://[secret]@'],
  [/([?&](?:token|key|secret|password|signature|sig|code)=)[^\s&"']+/gi, '$1[secret]'],
  [/-----BEGIN [^-]+-----[^]*?-----END [^-]+-----/g, '[secret]'],
];

/**
 * Removes secrets and e-mail addresses from a report at any depth: the secrets of this configuration, and all text that
 * looks like one. This is a second safeguard, because reports should contain none.
 * @param config undefined if it cannot be loaded
 */
export function redactor(config: Config | undefined): <Value>(value: Value) => Value {
  const secrets = [...secretsOf(config)].filter((text) => text.length >= 4).toSorted((a, b) => b.length - a.length);
  const ofText = (text: string): string => {
    const without = secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
    return forms.reduce((left, [form, instead]) => left.replaceAll(form, instead), without);
  };
  const of = (value: unknown): unknown => {
    if (typeof value === 'string') return ofText(value);
    if (Array.isArray(value)) return value.map(of);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [ofText(name), of(inner)]));
  };
  return <Value>(value: Value): Value => of(value) as Value;
}

/** Returns the secrets of a configuration. @param config undefined: there are none */
export function secretsOf(config: Config | undefined): Set<string> {
  return config === undefined ? new Set() : secretsIn({ ...config, source: undefined });
}

function secretsIn(value: unknown, seen = new Set<unknown>()): Set<string> {
  const found = new Set<string>();
  if (value instanceof Secret) return found.add(value.reveal());
  if (typeof value !== 'object' || value === null || seen.has(value)) return found;
  seen.add(value);
  const inner = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const each of inner) for (const text of secretsIn(each, seen)) found.add(text);
  return found;
}
