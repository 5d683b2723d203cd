import { codeOf } from '../base/errors.js';
import { readFile } from 'node:fs/promises';
import { dirname, normalize, resolve } from 'node:path';
import { checkReferences, findPublicWithoutToken, findUnusedSinks } from './check-references.js';
import { ConfigError, type ConfigErrorKind, type Problem } from './config-error.js';
import { type Config, toConfig } from './config.js';
import type { Environment } from './environment.js';
import { parseSinks, type SinkSchemas } from './parse-sinks.js';
import { parseTree, problemAt } from './parse-tree.js';
import {
  readDocument,
  type ConfigDocument,
  pathId,
  type KeyPath,
  valueAt,
  runningReferences,
  type RunningReferences,
} from './read-document.js';
import { configSchema } from './schema/config-schema.js';
import { Secret } from './secret.js';

interface LoadOptions {
  /** Schemas of the sinks' own keys, by type. */
  readonly sinkSchemas: SinkSchemas;
  /**
   * Text of the running file. Pass it for a configuration that was sent to the API. Secrets then become placeholders
   * (`StandIn`), and only variables and files that the running file names at the same key are read (decision 0045).
   */
  readonly running?: string | undefined;
  /** Whether the process is already running, so that it cannot see variables that were set after its start. */
  readonly isRunning?: boolean | undefined;
}

/**
 * Reads pigeonpost.yaml and everything it refers to (environment, secret files, certificates). Writes nothing and can
 * be called again at any time.
 * @param file as the user wrote it; messages use this name
 * @throws {ConfigError} with every problem found, each with line and key, never a secret's value
 */
export async function loadConfig(
  file: string,
  environment: Environment,
  { sinkSchemas, isRunning }: LoadOptions,
): Promise<Config> {
  const shownFile = normalize(file);
  const absoluteFile = resolve(file);
  return await loadConfigText(await readConfigFile(absoluteFile, shownFile), { shownFile, absoluteFile }, environment, {
    sinkSchemas,
    isRunning,
  });
}

/**
 * Like `loadConfig`, for a text that is, or will be, in a file.
 * @param place.shownFile its name in messages
 * @param place.absoluteFile its path; relative paths in it start there
 */
export async function loadConfigText(
  text: string,
  { shownFile, absoluteFile }: { readonly shownFile: string; readonly absoluteFile: string },
  environment: Environment,
  { sinkSchemas, running, isRunning }: LoadOptions,
): Promise<Config> {
  const folder = dirname(absoluteFile);
  const within = running === undefined ? undefined : runningReferences(running, text);
  const written = readDocument(text, shownFile, { environment, folder, within, isRunning });
  const document = withEnvironmentDefaults(written, environment);

  // Each check reads the document, so that all problems are found even if one check fails.
  const whole = parseTree(configSchema, document.tree, document);
  const sinks = parseSinks(document, sinkSchemas);
  const pem = await readPemFiles(document, folder, within);
  const environmentProxy = proxyFromEnvironment(environment);
  const wrong = [
    ...document.problems,
    ...('problems' in whole ? whole.problems : []),
    ...sinks.problems,
    ...checkReferences(document, folder),
    ...pem.problems,
    ...proxyProblems(document, environmentProxy),
  ];
  const problems = wrong.sort((one, other) => one.line - other.line || one.column - other.column);
  if (problems.length > 0 || 'problems' in whole) throw new ConfigError('invalid', shownFile, problems);

  return toConfig({
    file: absoluteFile,
    folder,
    parsed: whole.value,
    settings: sinks.settings,
    pem: pem.texts,
    environmentProxy,
    filledKeys: document.filledKeys,
    warnings: [...findUnusedSinks(document), ...findPublicWithoutToken(document)],
  });
}

/** Reads the text of pigeonpost.yaml. @throws {ConfigError} `missing` or `unreadable` */
export async function readConfigFile(absoluteFile: string, shownFile: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(absoluteFile);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT') {
      throw fileError(
        'missing',
        shownFile,
        'the file does not exist: write one with "pigeonpost init", or give another path with --config',
        cause,
      );
    }
    const reason =
      code === 'EISDIR'
        ? 'this is a folder; name the file in it'
        : `the file cannot be read (${code}); check the path and its permissions`;
    throw fileError('unreadable', shownFile, reason, cause);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fileError('unreadable', shownFile, 'the file is not UTF-8 text; save it as UTF-8', cause);
  }
}

/** Returns an error about the file as a whole, without a line. */
function fileError(kind: ConfigErrorKind, file: string, message: string, cause: unknown): ConfigError {
  return new ConfigError(kind, file, [{ line: 1, column: 1, key: '', message }], {
    message: `${file}: ${message}`,
    cause,
  });
}

/** Reports a problem of the environment's proxy only if the file names no proxy. */
function proxyProblems(document: ConfigDocument, { problem }: EnvironmentProxy): Problem[] {
  const own = document.placeOf(['network', 'proxy']);
  const isOwn = document.isWritten(['network', 'proxy']) && own.shown !== 'nothing';
  return problem === undefined || isOwn ? [] : [problemAt(document, ['network', 'proxy'], problem)];
}

/** Contents of the certificate files that the configuration names. */
export interface PemTexts {
  readonly networkCa?: string;
  readonly temporalCa?: string;
  readonly temporalCertificate?: string;
}

const pemKeys = {
  networkCa: ['network', 'ca'],
  temporalCa: ['temporal', 'tls', 'ca'],
  temporalCertificate: ['temporal', 'tls', 'certificate'],
} as const;

/**
 * Reads the certificate files. A wrong path is therefore reported with its line at the start, and not when the first
 * request fails. A value that is a PEM text (`${file:…}`) is used as it is.
 */
async function readPemFiles(
  document: ConfigDocument,
  folder: string,
  within?: RunningReferences,
): Promise<{ texts: PemTexts; problems: Problem[] }> {
  const texts: { -readonly [Key in keyof PemTexts]: string } = {};
  const problems: Problem[] = [];
  for (const [name, path] of Object.entries(pemKeys) as [keyof PemTexts, readonly string[]][]) {
    const found = valueAt(document.tree, path);
    if (typeof found === 'string' && within?.hasText(path, found) === false) {
      problems.push(
        problemAt(
          document,
          path,
          'a configuration sent to the API may name only the certificates that the running file names',
        ),
      );
      continue;
    }
    const written = found instanceof Secret ? found.revealPlain() : found;
    if (typeof written !== 'string' || document.isBroken(path)) continue; // another check reports the problem
    const text = await pemText(written, folder);
    if (typeof text === 'string') texts[name] = text;
    else problems.push(problemAt(document, path, `${text.problem} (${document.placeOf(path).shown})`));
  }
  return { texts, problems };
}

async function pemText(written: string, folder: string): Promise<string | { problem: string }> {
  const begin = '-----BEGIN CERTIFICATE-----';
  if (written.includes(begin)) return written;
  try {
    const text = await readFile(resolve(folder, written), 'utf8');
    return text.includes(begin)
      ? text
      : { problem: 'the file holds no PEM certificate; name one that has a line -----BEGIN CERTIFICATE-----' };
  } catch (error) {
    const code = codeOf(error);
    return { problem: `the file cannot be read, ${code}; correct the path` };
  }
}

/**
 * Keys that fall back to a variable if the file does not set them. `proxyFromEnvironment` handles the proxy, which has
 * rules of its own.
 */
const variables: readonly { readonly path: KeyPath; readonly variable: string }[] = [
  { path: ['store'], variable: 'DATABASE_URL' },
  { path: ['ledgerKey'], variable: 'LEDGER_KEY' },
  { path: ['temporal', 'address'], variable: 'TEMPORAL_ADDRESS' },
  { path: ['temporal', 'namespace'], variable: 'TEMPORAL_NAMESPACE' },
];

/**
 * Fills keys that the file does not set from variables, as if the file contained `store: ${DATABASE_URL:-}` and so on.
 * Many hosting platforms set these variables, so one file works on all of them. The file takes precedence, and an empty
 * variable counts as unset. The values are Secrets like all values from the environment. If a value is not allowed, the
 * problem names its variable.
 */
export function withEnvironmentDefaults(document: ConfigDocument, environment: Environment): ConfigDocument {
  let { tree } = document;
  const shown = new Map<string, string>();
  for (const { path, variable } of variables) {
    const value = environment[variable] ?? '';
    if (value === '' || valueAt(tree, path) !== undefined) continue;
    const filled = withValue(tree, path, new Secret(value));
    if (filled === undefined) continue;
    tree = filled;
    shown.set(
      pathId(path),
      `the value of the environment variable ${variable}, because the file does not set this key`,
    );
  }
  return {
    ...document,
    tree,
    placeOf: (path) => {
      const place = document.placeOf(path);
      return { ...place, shown: shown.get(pathId(path)) ?? place.shown };
    },
    isWritten: (path) => shown.has(pathId(path)) || document.isWritten(path),
    isFilled: (path) => shown.has(pathId(path)) || document.isFilled(path),
  };
}

/** Returns a copy with a value added; undefined if a part of the path is not a group, which the schema refuses. */
function withValue(tree: unknown, [step, ...below]: KeyPath, value: Secret): unknown {
  if (step === undefined) return value;
  const group = tree ?? {};
  if (typeof group !== 'object' || Array.isArray(group) || group instanceof Secret) return undefined;
  const inner = withValue((group as Record<string, unknown>)[step], below, value);
  return inner === undefined ? undefined : { ...group, [step]: inner };
}

export interface EnvironmentProxy {
  readonly proxy?: Secret;
  readonly noProxy?: string;
  /** Present if the environment names a proxy that cannot be used. */
  readonly problem?: string;
}

/**
 * Returns the https proxy from the variables that curl and most programs read. As in curl, lower case takes precedence
 * and a proxy without a scheme is an http proxy. Source: curl manual, "Environment".
 */
function proxyFromEnvironment(environment: Environment): EnvironmentProxy {
  const noProxy = environment.no_proxy || environment.NO_PROXY || undefined;
  const variable = environment.https_proxy ? 'https_proxy' : 'HTTPS_PROXY';
  const written = environment[variable];
  if (written === undefined || written === '') return { noProxy };
  const address = written.includes('://') ? written : `http://${written}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    return {
      noProxy,
      problem: `the environment variable ${variable} holds no http or https URL; correct it, or set network.proxy`,
    };
  }
  return { noProxy, proxy: new Secret(address) };
}
