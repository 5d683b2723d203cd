import type { Config } from '../config/config.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadConfig } from '../config/load-config.js';
import { allSinks } from '../sinks/all-sinks.js';

/** The configuration of a process, checked with every sink type that this version has. @throws {ConfigError} */
export async function loadProcessConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<Config> {
  const sinkSchemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));
  return await loadConfig(file, environment, { sinkSchemas });
}

export type { Config };

/** Of the log on standard error: PIGEONPOST_LOG, one of trace, debug, info, warn, error, silent. */
export function logLevel(environment: Environment = processEnvironment()): string {
  const level = environment['PIGEONPOST_LOG'] ?? 'info';
  return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level) ? level : 'info';
}
