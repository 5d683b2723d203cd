import { readFile } from 'node:fs/promises';
import type { Candidate } from '../api/configuration-plan.js';
import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { loadCandidateConfig, loadProcessConfig } from './load-process-config.js';

/**
 * The configuration that a person means: a text in the place of this process's file, else that file as it stands now.
 * A text has stand-ins for secrets, and may refer only to what this process's file refers to at the same key.
 * @throws {ConfigError} when it cannot be used
 */
export async function loadCandidate(
  current: Pick<Config, 'file'>,
  { file, text }: Candidate,
  environment?: Environment,
): Promise<Config> {
  const own = current.file;
  const isOwn = text === undefined || file === undefined || file === own;
  if (isOwn) return await loadProcessConfig(own, environment);
  const running = await readFile(own, 'utf8').catch(() => ''); // then nothing may be referred to
  return await loadCandidateConfig(text, { shownFile: file, absoluteFile: own }, environment, running);
}
