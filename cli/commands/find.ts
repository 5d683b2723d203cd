import type { FoundView, HitView } from '../../api/find.js';
import { clientOf } from '../api-client.js';
import { type CliCommand, type Context, type JsonOption, personalHelp, wholeNumber } from '../command.js';
import { ExitCode } from '../exit-code.js';
import { printLine } from '../output.js';
import { shownInLine } from '../text-line.js';
import { counted } from '../../base/words.js';

export function addFind(program: CliCommand): void {
  program
    .command('find <text...>')
    .description('Find events, sessions, sinks and imports by name; with --personal also people and questions')
    .option('--workspace <name>', 'only this workspace')
    .option('--limit <n>', 'number of hits', wholeNumber(100), 20)
    .option('--personal', personalHelp, false)
    .json()
    .examples('find keynote', 'find --personal ada@example.com', 'find --personal when is lunch')
    .runs(find);
}

interface FindOptions extends JsonOption {
  readonly workspace?: string | undefined;
  readonly limit: number;
  readonly personal: boolean;
}

/** `pigeonpost find <text>`: lists what a text may mean, the most certain first. Exit 0, 4 if it finds nothing. */
export async function find(
  context: Context,
  text: readonly string[],
  { workspace, limit, personal, json }: FindOptions,
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const asked = { text: text.join(' '), workspace, limit, ...(personal ? { personal } : {}) } as const;
  const found = await client.post('/api/find', { json: asked });
  if (json) out.line(JSON.stringify(found));
  else for (const hit of found.hits) for (const line of hitLines(hit)) printLine(out, line);
  for (const note of notesAbout(found, personal)) out.note(note);
  return found.hits.length === 0 ? ExitCode.NotFound : ExitCode.Done;
}

/** Formats a hit: its title, what it is, and the command that shows more. Pure. */
export function hitLines({ title, about, kind, name, item }: HitView): string[] {
  return [shownInLine(title), `  ${shownInLine(about)}`, `  ${nextStep({ kind, name, item })}`];
}

function nextStep({ kind, name, item }: Pick<HitView, 'kind' | 'name' | 'item'>): string {
  if (item !== null && item.list === 'pigeonholes') return `pigeonpost ready ${item.workspace}/${item.key}`;
  if (item !== null) {
    return `pigeonpost why ${item.list}:${shownInLine(item.key)} --pigeonhole ${item.workspace}/${item.pigeonholeId}`;
  }
  if (kind === 'import') return `pigeonpost import status ${name}`;
  return 'pigeonpost status';
}

/** Returns what limits the result, in sentences. Pure. */
export function notesAbout({ hits, more, unread }: FoundView, personal: boolean): string[] {
  return [
    ...(hits.length === 0 ? ['nothing was found'] : []),
    ...(more ? ['there are more hits: give a longer text, or --limit N'] : []),
    ...(personal ? [] : ['people and what they wrote are searched only with --personal']),
    ...(unread > 0 ? [`${counted(unread, 'stored change')} cannot be found yet: search again in a minute`] : []),
  ];
}
