import { type ClientConfig, loadClientConfig, loadStoreConfig, type StoreConfig } from '../config/client-config.js';
import { type Environment, processEnvironment } from '../config/environment.js';

/** The settings that commands read. This file imports no sink: to load them takes longer than most commands run. */
export type { ClientConfig };

/** Loads the configuration of a command that calls a running pigeonpost. Resolves only its token. @throws {ConfigError} */
export async function loadCommandConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<ClientConfig> {
  return await loadClientConfig(file, environment);
}

/** Loads the configuration of a command that uses the store while nothing runs. Resolves the secrets of the store and its key. @throws {ConfigError} */
export async function loadOfflineConfig(
  file: string,
  environment: Environment = processEnvironment(),
): Promise<StoreConfig> {
  return await loadStoreConfig(file, environment);
}

/** The token for a pigeonpost that is named by its address; empty: none is given. */
export function tokenOfEnvironment(environment: Environment = processEnvironment()): string {
  return environment['PIGEONPOST_TOKEN'] ?? '';
}

/** Returns the log level from PIGEONPOST_LOG: trace, debug, info, warn, error or silent. */
export function logLevel(environment: Environment = processEnvironment()): string {
  const level = environment['PIGEONPOST_LOG'] ?? 'info';
  return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level) ? level : 'info';
}
