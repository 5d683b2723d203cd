import type { Config } from '../config/config.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadConfig, loadConfigText } from '../config/load-config.js';
import type { SinkSchemas } from '../config/parse-sinks.js';
import { allSinks } from '../sinks/all-sinks.js';

/** The configuration of a process, checked with every sink type that this version has. @throws {ConfigError} */
export async function loadProcessConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Config> {
  return await loadConfig(file, environment, { sinkSchemas: sinkSchemas() });
}

/**
 * The configuration that a text would be in the place of this process's file, which is not touched.
 * @param shownFile what messages call it
 * @param running text of the running file, where somebody else has sent this one
 * @throws {ConfigError}
 */
export async function loadCandidateConfig(
  text: string,
  place: { readonly shownFile: string; readonly absoluteFile: string },
  environment: Environment = processEnvironment(),
  running?: string,
): Promise<Config> {
  return await loadConfigText(text, place, environment, { sinkSchemas: sinkSchemas(), running });
}

function sinkSchemas(): SinkSchemas {
  return Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));
}

export type { Config };

/** Of the log on standard error: PIGEONPOST_LOG, one of trace, debug, info, warn, error, silent. */
export function logLevel(environment: Environment = processEnvironment()): string {
  const level = environment['PIGEONPOST_LOG'] ?? 'info';
  return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level) ? level : 'info';
}
