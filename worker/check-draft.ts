import { resolve } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadCandidateConfig } from '../operations/load-process-config.js';

export interface CheckedDraft {
  /** Problems as sentences; none: it can be used once its variables are set. */
  readonly problems: readonly string[];
  /** Variables that the configuration names and that are not set. */
  readonly unset: readonly string[];
}

/**
 * Checks a configuration before it is written, with stand-ins for variables that are not set yet. Touches no file.
 * @param standIns a value of the right form for each variable that it names
 */
export async function checkDraft(
  text: string,
  file: string,
  standIns: Readonly<Record<string, string>>,
  environment: Environment = processEnvironment(),
): Promise<CheckedDraft> {
  const unset = Object.keys(standIns).filter((name) => (environment[name] ?? '') === '');
  const filled = { ...environment, ...Object.fromEntries(unset.map((name) => [name, standIns[name]])) };
  try {
    await loadCandidateConfig(text, { shownFile: file, absoluteFile: resolve(file) }, filled);
    return { problems: [], unset };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map(({ key, message }) => `${key}: ${message}`), unset };
  }
}
