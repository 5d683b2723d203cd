import { readFile } from 'node:fs/promises';
import type { Config } from '../operations/load-process-config.js';
import { storedFieldNotes } from '../operations/field-notes.js';
import { apiClientFor } from './api-client.js';
import { countWords } from './commands/preview.js';
import { CommandError } from './exit-code.js';

/** What stored items tell about the sinks of a configuration. */
export interface SinkFindings {
  /** A sentence each, by sink: lists of which the mapping withholds everything. */
  readonly problems: readonly { readonly sink: string; readonly text: string }[];
  /** How many people each sink is sent, and fields that a mapping reads and no stored item has. */
  readonly notes: readonly string[];
}

/**
 * Asks the running pigeonpost what each sink would be sent under this configuration; no values, so that nothing is
 * audited. Where none runs, the fields are looked up in its store. Finds nothing where there is no ledger yet.
 */
export async function checkSinks(config: Config): Promise<SinkFindings> {
  const client = apiClientFor(config);
  const configuration = { file: config.file, text: await readFile(config.file, 'utf8') };
  const problems: { sink: string; text: string }[] = [];
  const people: string[] = [];
  const fields: string[] = [];
  for (const sink of Object.keys(config.sinks)) {
    const asked = { sink, list: null, pigeonhole: null, key: null, limit: 1, configuration, changedFrom: null };
    // oxlint-disable-next-line no-await-in-loop -- each counts lists of the ledger
    const preview = await client.preview(asked, { personal: false }).catch((error: unknown) => {
      if (error instanceof CommandError) return error; // `check` says so itself where it matters
      throw error;
    });
    if (preview instanceof CommandError) {
      if (preview.exitCode === 3) return { problems, notes: (await storedFieldNotes(config)) ?? [] };
      continue;
    }
    problems.push(...preview.problems.map((text) => ({ sink, text })));
    fields.push(...preview.notes);
    for (const count of preview.counts.filter(({ list }) => list === 'attendees')) {
      people.push(`sink ${sink}: of the attendees read so far ${countWords(count)}`);
    }
  }
  return { problems, notes: [...people, ...fields] };
}
