import type { Candidate } from '../api/configuration-plan.js';
import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { loadCandidateConfig, loadProcessConfig } from './load-process-config.js';

/**
 * The configuration that a person means: a text in the place of this process's file, else that file as it stands now.
 * Its secrets are those of this process: the same variables and files that it would be applied with.
 * @throws {ConfigError} when it cannot be used
 */
export async function loadCandidate(
  current: Pick<Config, 'file'>,
  { file, text }: Candidate,
  environment?: Environment,
): Promise<Config> {
  const own = current.file;
  const isOwn = text === undefined || file === undefined || file === own;
  return isOwn
    ? await loadProcessConfig(own, environment)
    : await loadCandidateConfig(text, { shownFile: file, absoluteFile: own }, environment);
}
