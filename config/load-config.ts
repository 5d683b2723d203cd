import { dirname, normalize, resolve } from 'node:path';
import { checkReferences, findPublicWithoutToken, findUnusedSinks } from './check-references.js';
import { ConfigError, type Problem } from './config-error.js';
import { type Config, toConfig } from './config.js';
import type { Environment } from './environment.js';
import { parseSinks, type SinkSchemas } from './parse-sinks.js';
import { parseTree, problemAt } from './parse-tree.js';
import { readDocument, type ConfigDocument, runningReferences } from './read-document.js';
import { configSchema } from './schema/config-schema.js';
import { readConfigFile } from './read-config-file.js';
import { Secret } from './secret.js';
import { readPemFiles } from './pem-files.js';
import { withEnvironmentDefaults, type EnvironmentProxy, proxyFromEnvironment } from './environment-defaults.js';

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
    source: new Secret(text),
    folder,
    parsed: whole.value,
    settings: sinks.settings,
    pem: pem.texts,
    environmentProxy,
    filledKeys: document.filledKeys,
    warnings: [...findUnusedSinks(document), ...findPublicWithoutToken(document)],
  });
}

/** Reports a problem of the environment's proxy only if the file names no proxy. */
function proxyProblems(document: ConfigDocument, { problem }: EnvironmentProxy): Problem[] {
  const own = document.placeOf(['network', 'proxy']);
  const isOwn = document.isWritten(['network', 'proxy']) && own.shown !== 'nothing';
  return problem === undefined || isOwn ? [] : [problemAt(document, ['network', 'proxy'], problem)];
}
