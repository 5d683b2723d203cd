import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/config.js';
import { ConfigError, type Problem } from '../../config/config-error.js';
import type { Environment } from '../../config/environment.js';
import { loadCandidateConfig } from '../load-process-config.js';
import { checkMappingText, mappingKeysOf, type TriedProblem } from './check-mapping-text.js';
import { replaceMapping, type PlacedMapping } from './mapping-text.js';

/** Maximum size of a mapping. */
export const maxMappingCharacters = 100_000;

/**
 * Loads the file of this process with another mapping of a sink, as a candidate.
 * @param text null: the mapping of the file
 * @returns the mistakes of the mapping, or `unknown` with a sentence if the sink has none
 */
export async function loadMapping(
  own: Config,
  sink: string,
  text: string | null,
  environment?: Environment,
): Promise<Config | { readonly problems: readonly TriedProblem[] } | { readonly unknown: string }> {
  const file = await readFile(own.file, 'utf8').catch(() => '');
  const found = mappingKeysOf(file, sink);
  if ('unknown' in found) return found;
  const { keys, notReplaced } = found;
  const written = text ?? found.text;
  const wrong = checkMappingText(written, keys);
  if (wrong.length > 0) return { problems: wrong };
  const placed = replaceMapping(file, { sink, keys, text: written });
  if (placed === null) return { problems: [{ line: null, column: 1, key: '', message: notReplaced }] };
  return await load(own, { sink, placed, file }, environment);
}

async function load(
  own: Config,
  { sink, placed, file }: { readonly sink: string; readonly placed: PlacedMapping; readonly file: string },
  environment?: Environment,
): Promise<Config | { readonly problems: readonly TriedProblem[] }> {
  try {
    const place = { shownFile: own.file, absoluteFile: own.file };
    return await loadCandidateConfig(placed.file, place, environment, file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map((problem) => inText(problem, sink, placed)) };
  }
}

/** Returns a problem of the file with its line in the text of the mapping. */
function inText({ line, column, key, message }: Problem, sink: string, placed: PlacedMapping): TriedProblem {
  const own = line - placed.firstLine + 1;
  const isOwn = own >= 1 && own <= placed.lines;
  if (!isOwn) return { line: null, column: 1, key, message: `line ${line} of the file: ${message}` };
  const prefix = `sinks.${sink}.`;
  const shownKey = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return { line: own, column: Math.max(1, column - placed.indent), key: shownKey, message };
}
