import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { traitsOf } from '../../operations/problems.js';
import type { ApiClient } from '../api-client.js';
import { hitLines, notesAbout } from '../commands/find.js';
import { timeline } from '../commands/items.js';
import { previewLines } from '../commands/mappings.js';
import { parseItem, parseTarget } from '../command.js';
import { ExitCode, CommandError, wrongUse } from '../exit-code.js';
import { formatStatus, readMoment } from '../status/format-status.js';
import { counted, formatDistance, grouped } from '../../base/words.js';
import { findSections, readSection } from './documents.js';

/** A tool that an assistant may call. Its answer is text for a reader, the same as the command prints. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Whether it changes what pigeonpost does. Such tools exist only with `--allow-actions`. */
  readonly acts: boolean;
  readonly run: (given: never, at: ToolContext) => Promise<readonly string[]>;
}

export interface ToolContext {
  readonly client: ApiClient;
  /** Address of the page. */
  readonly page: () => Promise<string>;
  /** Name of the person for whom the assistant acts, as pauses show it. */
  readonly by: string;
}

/** Options of `pigeonpost mcp`. */
export interface Allowed {
  /** Tools that change something. */
  readonly actions: boolean;
  /** People and what they wrote; the token needs the right as well. */
  readonly personal: boolean;
}

function tool<Input extends z.ZodObject>(made: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly acts?: true;
  readonly run: (given: z.output<Input>, at: ToolContext) => Promise<readonly string[]>;
}): Tool {
  return { acts: false, ...made };
}

const word = (max = 200) => z.string().min(1).max(max);
const pigeonhole = () => word(80).optional().describe('WORKSPACE/ID of a pigeonhole (event).');
const personalInput = {
  personal: z
    .boolean()
    .default(false)
    .describe('Also people and what they wrote. Each use is written into the audit log.'),
};

/** Returns the tools in the order in which an assistant lists them. */
export function toolsFor({ actions, personal }: Allowed): Tool[] {
  const withPeople = personal ? personalInput : {};
  const tools = [
    ...observing,
    tool({
      name: 'find',
      title: 'Find',
      description:
        'Finds events, sessions, sinks and imports by the beginnings of words in their names, and items by their key (list:key).',
      input: z.strictObject({ text: word(400), limit: z.int().min(1).max(50).default(20), ...withPeople }),
      run: async ({ text, limit, ...given }, { client }) => {
        const shows = personal && 'personal' in given && given.personal === true;
        const found = await client.post('/api/find', { json: { text, limit, ...(shows ? { personal: true } : {}) } });
        return [...found.hits.flatMap(hitLines), ...notesAbout(found, shows || !personal)];
      },
    }),
    tool({
      name: 'preview',
      title: 'Preview what a sink would receive',
      description:
        'Shows the requests that the running configuration would send to a sink for stored items, without sending them. Values are replaced by their types.',
      input: z.strictObject({
        sink: word(63).describe('Name of the sink.'),
        list: z.enum(listNames).optional(),
        item: word().optional().describe('One item as list:key, such as attendees:42.'),
        pigeonhole: pigeonhole(),
        limit: z.int().min(1).max(20).default(3).describe('Number of items, newest first.'),
        ...withPeople,
      }),
      run: async ({ sink, list, item: named, pigeonhole: place, limit, ...given }, { client }) => {
        const item = named === undefined ? null : await parseItem(named);
        const shows = personal && 'personal' in given && given.personal === true;
        const json = {
          sink: sink.replace(/^sink:/, ''),
          list: item?.list ?? list ?? null,
          key: item?.key ?? null,
          pigeonhole: place?.replace(/^pigeonhole:/, '') ?? null,
          limit,
          configuration: {},
          changedFrom: null,
        };
        const query = { personal: shows ? ('1' as const) : undefined };
        return previewLines(await client.post('/api/preview', { query, json }), false);
      },
    }),
    ...documents,
    ...acting,
  ];
  return tools.filter(({ acts }) => actions || !acts);
}

const observing: readonly Tool[] = [
  tool({
    name: 'status',
    title: 'Status',
    description:
      'Shows problems with their remedies, then the state of each event and each sink, as "pigeonpost status" does.',
    input: z.strictObject({}),
    run: async (_given, { client, page }) => {
      const moment = await readMoment(client, { counts: false });
      return formatStatus(moment, { now: new Date(), columns: Infinity, colours: false, page: await page() });
    },
  }),
  tool({
    name: 'problems',
    title: 'Problems and remedies',
    description:
      'Lists what stops or slows the flow of data, the worst first: its cause, its remedy, and the page of the guide about it.',
    input: z.strictObject({}),
    run: async (_given, { client }) => {
      const { troubles } = await client.get('/api/overview', {});
      if (troubles.length === 0) return ['no problems'];
      return troubles.flatMap(({ code, severity, kind, name, text, advice, since }) => [
        `${severity}: ${text} (${[code, ...(name === '' ? [] : [`${kind}:${name}`])].join(', ')})`,
        ...(since === null ? [] : [`  started ${formatDistance(new Date(since), new Date())}`]),
        ...(advice === null ? [] : [`  remedy: ${advice}`]),
        `  guide: docs/operations.md#${traitsOf(code).runbook}`,
      ]);
    },
  }),
  tool({
    name: 'why',
    title: 'Why an item was sent or not',
    description:
      'Explains one item: where it was read, what each sink received and answered, or the reason why nothing was sent. Shows no text of the item.',
    input: z.strictObject({
      item: word().describe('The item as list:key, such as questions:9001. "find" finds keys.'),
      pigeonhole: word(80).optional().describe('ID or WORKSPACE/ID, if several pigeonholes have this key.'),
    }),
    run: async ({ item, pigeonhole: place }, { client }) => {
      const { list, key } = await parseItem(item);
      const { items } = await client.get('/api/why', { query: { list, key, pigeonhole: place } });
      if (items.length === 0)
        throw new CommandError(ExitCode.NotFound, `${item} was never read: check the list and the key`);
      if (items.length === 1) return timeline(items[0]!);
      const places = items.map((each) => `${each.workspace}/${each.pigeonholeId}`).join(', ');
      throw wrongUse(`${item} is in several pigeonholes: give "pigeonhole", one of ${places}`);
    },
  }),
  tool({
    name: 'dead_letters',
    title: 'Dead letters',
    description:
      'Counts the changes that destinations refused, by cause, with the meaning of each cause and its remedy.',
    input: z.strictObject({ sink: word(63).optional().describe('Only this sink.') }),
    run: async ({ sink }, { client }) => {
      const { groups } = await client.get('/api/dead-letters', { query: { sink } });
      if (groups.length === 0) return ['no dead letters'];
      return groups.flatMap(({ sink: name, list, cause, changes, newest, detail, meaning, help }) => [
        `${name}: ${grouped(changes)} of ${list}, cause ${cause} (last ${formatDistance(new Date(newest), new Date())})`,
        `  ${meaning}`,
        ...(detail === null ? [] : [`  ${detail}`]),
        `  remedy: ${help}`,
      ]);
    },
  }),
];

const documents: readonly Tool[] = [
  tool({
    name: 'search_docs',
    title: 'Search the documentation',
    description: 'Finds sections of the documentation of this version by words. Read them with read_docs.',
    input: z.strictObject({ words: word(200) }),
    run: async ({ words }) => findSections(words),
  }),
  tool({
    name: 'read_docs',
    title: 'Read the documentation',
    description: 'Returns a document, or one of its sections, as Markdown.',
    input: z.strictObject({
      document: word(200).describe(
        'Path such as docs/operations.md, or docs/operations.md#dead-letters for a section.',
      ),
    }),
    run: async ({ document }) => readSection(document).split('\n'),
  }),
];

const target = () => word(100).describe('workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME.');
const reason = () => word(200).optional().describe('Reason that the status shows, without personal data.');

const acting: readonly Tool[] = [
  tool({
    name: 'pause',
    title: 'Pause',
    description: 'Pauses a workspace, a pigeonhole or a sink until "resume". Nothing is lost: changes wait.',
    input: z.strictObject({ target: target(), reason: reason() }),
    acts: true,
    run: async (given, at) => await act('pause', given, at),
  }),
  tool({
    name: 'resume',
    title: 'Resume',
    description: 'Ends a pause. What waited is then read or sent.',
    input: z.strictObject({ target: target(), reason: reason() }),
    acts: true,
    run: async (given, at) => await act('resume', given, at),
  }),
  tool({
    name: 'redrive',
    title: 'Send dead letters again',
    description:
      'Sends dead letters of one sink again. Use it after their cause is fixed, otherwise the destination refuses them again.',
    input: z.strictObject({
      sink: word(63).describe('Name of the sink.'),
      cause: word().optional().describe('Only this cause, as dead_letters shows it.'),
    }),
    acts: true,
    run: async ({ sink, cause }, { client }) => {
      const { changes } = await client.post('/api/dead-letters/redrive', { json: { sink, cause } });
      if (changes === 0) return [`sink ${sink} has no matching dead letters`];
      return [`${counted(changes, 'change')} queued again: see dead_letters in a few seconds`];
    },
  }),
];

async function act(
  verb: 'pause' | 'resume',
  given: { readonly target: string; readonly reason?: string | undefined },
  { client, by }: ToolContext,
): Promise<string[]> {
  const { kind, name } = await parseTarget(given.target, async () => ({ workspaces: [], sinks: [] }));
  const { note } = await client.post('/api/actions', { json: { do: verb, kind, name, by, reason: given.reason } });
  return [note ?? `${kind} ${name} is ${verb === 'pause' ? 'paused' : 'resumed'}`];
}
