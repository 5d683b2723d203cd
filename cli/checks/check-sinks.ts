import { readFile } from 'node:fs/promises';
import { type CheckResult, checkOf } from '../../operations/checks.js';
import type { Config } from '../../operations/load-process-config.js';
import { plannedWords } from '../../sinks/reason-words.js';
import { apiClientFor } from '../api-client.js';
import { CommandError, ExitCode } from '../exit-code.js';

/**
 * Findings about the sinks of a configuration, from stored items: mappings that withhold whole lists, and those that could
 * not be checked; the number of people each sink receives; fields that a mapping reads but no stored item has.
 */
export type SinkFindings = Readonly<Record<'mapping' | 'consent' | 'profile-fields', readonly CheckResult[]>>;

/**
 * Requests a preview for each sink from the running pigeonpost, without values, so that nothing is audited. If none
 * runs, looks the fields up in its store. Finds nothing if there is no ledger yet.
 */
export async function checkSinks(config: Config): Promise<SinkFindings> {
  const { storedFieldNotes } = await import('../../operations/field-notes.js');
  const client = apiClientFor(config);
  const configuration = { file: config.file, text: await readFile(config.file, 'utf8') };
  const mapping: CheckResult[] = [];
  const people: CheckResult[] = [];
  const fields: string[] = [];
  const unchecked = new Map<string, string[]>();
  const aboutMappings = checkOf('mapping', 'mappings');
  const aboutFields = checkOf('profile-fields', 'fields');
  const withFields = (texts: readonly string[]): SinkFindings => ({
    mapping: [...mapping, ...[...unchecked].map(([why, sinks]) => aboutMappings.note(uncheckedNote(sinks, why)))],
    consent: people,
    'profile-fields': texts.map((text) => aboutFields.note(text)),
  });
  for (const sink of Object.keys(config.sinks)) {
    const asked = { sink, list: null, pigeonhole: null, key: null, limit: 1, configuration, changedFrom: null };
    const preview = await client.post('/api/preview', { json: asked }).catch((error: unknown) => {
      if (error instanceof CommandError) return error; // the findings about mappings are optional
      throw error;
    });
    if (preview instanceof CommandError) {
      if (preview.exitCode === ExitCode.Unreachable) return withFields((await storedFieldNotes(config)) ?? []);
      unchecked.set(preview.message, [...(unchecked.get(preview.message) ?? []), sink]);
      continue;
    }
    const about = checkOf(`mapping:${sink}`, `sink ${sink}`);
    mapping.push(...preview.problems.map((text) => about.failed(text)));
    fields.push(...preview.notes);
    for (const count of preview.counts.filter(({ list }) => list === 'attendees')) {
      const ofPeople = checkOf(`consent:${sink}`, `sink ${sink}`);
      people.push(ofPeople.note(`sink ${sink}: of the attendees read so far, ${plannedWords(count)}`));
    }
  }
  return withFields(fields);
}

function uncheckedNote(sinks: readonly string[], why: string): string {
  const mappings = sinks.length === 1 ? 'the mapping of sink' : 'the mappings of sinks';
  return `${mappings} ${sinks.join(', ')} ${sinks.length === 1 ? 'was' : 'were'} not checked with stored items: ${why}`;
}
