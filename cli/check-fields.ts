import type { SeenFields } from '../api/fields.js';
import type { ListName } from '../worker/command-words.js';
import { fieldNotes, mentionedLists, type SeenByList } from '../worker/field-notes.js';
import type { Config } from '../worker/load-process-config.js';
import { storedFields } from '../worker/stored-fields.js';
import { apiClientFor } from './api-client.js';
import { CommandError } from './exit-code.js';

/**
 * What `check` notes about fields that mappings read and nobody has seen: asked of the running pigeonpost, else looked up
 * in its store. None where there are no mappings, or no ledger yet.
 * @param of the sinks that are meant; all when absent
 */
export async function checkFields(whole: Config, of?: readonly string[]): Promise<string[]> {
  const sinks = Object.entries(whole.sinks).filter(([name]) => of === undefined || of.includes(name));
  const config = { ...whole, sinks: Object.fromEntries(sinks) };
  const lists = mentionedLists(config);
  if (lists.length === 0) return [];
  const seen = (await askedFields(config, lists)) ?? (await storedFields(config, lists));
  return seen === undefined ? [] : fieldNotes(config, seen);
}

/** Undefined when none runs, or it does not answer: `check` says so itself where it matters. */
async function askedFields(config: Config, lists: readonly ListName[]): Promise<SeenByList | undefined> {
  const client = apiClientFor(config);
  const found = new Map<string, readonly SeenFields[]>();
  try {
    for (const list of lists) {
      // oxlint-disable-next-line no-await-in-loop -- each reads a whole list of the ledger
      found.set(list, (await client.fields({ list })).pigeonholes);
    }
    return found;
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}
