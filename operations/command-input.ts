import { nearestWord } from '../config/nearest-word.js';
import { type ListName, listNames } from '../base/lists.js';
import { parseDurationMs } from '../config/values.js';
import { type ClientConfig, loadClientConfig, loadStoreConfig, salvageClientConfigs } from '../config/client-config.js';
import { ConfigError } from '../config/config-error.js';
import { type Environment, processEnvironment } from '../config/environment.js';

/**
 * The input of a command: its file, its environment and its arguments. This file imports no sink, because loading them
 * takes longer than most commands run.
 */
export { type ClientConfig, ConfigError, loadClientConfig, loadStoreConfig, nearestWord, salvageClientConfigs };

/** Returns the token with which a command calls a pigeonpost at a given address; empty: none is set. */
export function tokenOfEnvironment(environment: Environment = processEnvironment()): string {
  return environment['PIGEONPOST_TOKEN'] ?? '';
}

/** Returns the log level from PIGEONPOST_LOG: trace, debug, info, warn, error or silent. */
export function logLevel(environment: Environment = processEnvironment()): string {
  const level = environment['PIGEONPOST_LOG'] ?? 'info';
  return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level) ? level : 'info';
}

/**
 * Finds a list by its name, in the plural or the singular. Commands accept the same names of lists as the
 * configuration.
 * @returns a sentence with the problem and a suggestion if no list has that name
 */
export function listNamed<Name extends string>(
  word: string,
  names: readonly Name[],
): { list: Name } | { problem: string } {
  const list = names.find((name) => name === word || name === `${word}s`);
  if (list !== undefined) return { list };
  const nearest = nearestWord(word, names);
  const hint = nearest === undefined ? `there are ${names.join(', ')}` : `did you mean "${nearest}"?`;
  return { problem: `"${shownWord(word)}" is not a list: ${hint}` };
}

/** Maximum length of a key. Keys are IDs of the service or keyed hashes of pigeonpost, which are shorter. */
const longestKey = 200;

/**
 * Parses `list:key`. The list may be derived, and its name may be in the singular.
 * @returns a sentence if the word is not an item; `notFound` is true if no item can have such a key
 */
export function itemNamed(word: string): { list: ListName; key: string } | { problem: string; notFound: boolean } {
  const [, listWord, key] = /^([a-z_-]{1,40}):([^]+)$/i.exec(word) ?? [];
  if (listWord === undefined || key === undefined) {
    return {
      problem: `"${shownWord(word)}" is not an item: write it as list:key, e.g. questions:9001`,
      notFound: false,
    };
  }
  const found = listNamed(listWord, listNames);
  if ('problem' in found) return { ...found, notFound: false };
  if (key.length > longestKey || unprintable.test(key)) {
    const problem = `no item has the key "${shownWord(key)}": a key is at most ${longestKey} printable characters`;
    return { problem, notFound: true };
  }
  return { list: found.list, key };
}

const unprintable = /\p{C}/u;
const maxShown = 60;

/** Returns user input shortened to one line, without characters that move a terminal's cursor. */
export function shownWord(word: string): string {
  const cut = Array.from(word.slice(0, 2 * (maxShown + 1)));
  const kept = cut.length > maxShown ? `${cut.slice(0, maxShown).join('')}…` : word;
  return kept.replaceAll(/\p{C}/gu, '\ufffd');
}

const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Parses an instant: `2026-11-21` (the start of that day in UTC), `2026-11-21T09:30Z` (without a zone, in this
 * machine's zone), or a duration before `now`, such as `2h`. Returns undefined for anything else.
 */
export function instantNamed(word: string, now: Date): Date | undefined {
  const agoMs = parseDurationMs(word);
  const at = agoMs === undefined ? new Date(instant.test(word) ? word : Number.NaN) : new Date(now.getTime() - agoMs);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
