import { readFile } from 'node:fs/promises';
import type { Config } from '../worker/load-process-config.js';
import { apiClientFor } from './api-client.js';
import { CommandError } from './exit-code.js';
import { reasonWords } from './reason-words.js';
import { grouped } from './grouped.js';

/**
 * What `check` notes about people: of those that the running pigeonpost has read, how many each sink would be sent and how
 * many not, by what they said. None when nothing runs, or for sinks that take no attendees.
 */
export async function checkConsent(config: Config): Promise<string[]> {
  const client = apiClientFor(config);
  const configuration = { file: config.file, text: await readFile(config.file, 'utf8') };
  const notes: string[] = [];
  for (const sink of Object.keys(config.sinks)) {
    const asked = { sink, list: 'attendees', pigeonhole: null, key: null, limit: 1, configuration, changedFrom: null };
    // oxlint-disable-next-line no-await-in-loop -- each counts a whole list of the ledger
    const counts = await client.preview(asked).then(
      (preview) => preview.counts,
      (error: unknown) => {
        if (error instanceof CommandError) return []; // `check` says so itself where it matters
        throw error;
      },
    );
    for (const { items, withheld } of counts) {
      const kept = Object.entries(withheld).map(([reason, n]) => `${grouped(n)} withheld: ${reasonWords(reason)}`);
      notes.push(`sink ${sink}: of the attendees read so far ${[`${grouped(items)} to send`, ...kept].join(', ')}`);
    }
  }
  return notes;
}
