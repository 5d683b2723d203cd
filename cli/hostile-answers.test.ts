import type { Command } from 'commander';
import { apiSources, emptyConfig, emptyLedger } from '../api/api-sources.test-kit.js';
import { createApp } from '../api/create-app.js';
import { type AnsweringApi, answeringApi } from './commands/answering-api.test-kit.js';
import { outputTo } from './output.js';
import { createProgram } from './run-command-line.js';

/**
 * Every command that prints what the API answers, with answers in which every free text is hostile: texts of people,
 * names, causes, answers of destinations. The answers follow from the schemas in /openapi.json, so a new field is
 * covered without a change here.
 */

const forged = 'PROBLEM forged by an attendee';
const hostile = `a\u001b[2J\u001b[31mred\u009b31m\u009d0;title\u009c\u0007\u202eevil\u2066\r\n${forged}\u2028\u0085${'long'.repeat(100)}`;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Method {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly responses: Readonly<Record<string, Response>>;
}
interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

let described: Described;
let api: AnsweringApi;
/** Parts of queries that the API would refuse. */
const undescribed: string[] = [];
/** Answers that a command needs in another form, by method and path. */
const settled: Readonly<Record<string, (answer: Record<string, unknown>) => unknown>> = {
  // the requests are repeated until these say that the work is done
  'GET /api/sinks/{name}/outcomes': (answer) => ({ ...answer, outcomes: [] }),
  'GET /api/erasures/{id}': (answer) => ({ ...answer, state: 'done' }),
};

beforeAll(async () => {
  const app = createApp(apiSources({ ledger: emptyLedger(), config: emptyConfig({ host: '127.0.0.1', port: 8088 }) }));
  described = (await (await app.request('/openapi.json', { headers: { host: '127.0.0.1' } })).json()) as Described;
  api = await answeringApi(({ method, url }) => {
    const path = url.split('?')[0]!;
    const [route, methods] = Object.entries(described.paths).find(([pattern]) => matches(pattern, path))!;
    const { parameters = [], responses } = methods[method.toLowerCase()]!;
    for (const name of new URLSearchParams(url.split('?')[1]).keys())
      if (!parameters.some((each) => each.in === 'query' && each.name === name)) undescribed.push(`${url}: ${name}`);
    const schema = responses['200']!.content!['application/json']!.schema;
    const answer = sample(schema) as Record<string, unknown>;
    return JSON.stringify(settled[`${method} ${route}`]?.(answer) ?? answer);
  });
});
afterAll(() => api.close());

function matches(pattern: string, path: string): boolean {
  const [parts, given] = [pattern.split('/'), path.split('/')];
  return parts.length === given.length && parts.every((part, at) => part.startsWith('{') || part === given[at]);
}

/** Returns a value that fits a schema, with every optional key, one entry in each list, and hostile texts. */
function sample(schema: Schema, depth = 0): unknown {
  if (schema.$ref !== undefined) return sample(described.components.schemas[schema.$ref.split('/').at(-1)!]!, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.find((each) => each !== null);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined)
    return sample(
      choices.find(({ type }) => type !== 'null')!,
      depth,
    );
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((each) => sample(each, depth)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.find((each) => each !== 'null');
  switch (type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return depth > 12
        ? []
        : Array.from({ length: schema.minItems ?? 1 }, () => sample(schema.items ?? {}, depth + 1));
    case 'object': {
      const own = Object.entries(schema.properties ?? {}).map(([key, value]) => [key, sample(value, depth + 1)]);
      const free =
        typeof schema.additionalProperties === 'object'
          ? [[hostile, sample(schema.additionalProperties, depth + 1)]]
          : [];
      return Object.fromEntries([...own, ...free]);
    }
    default:
      return hostile;
  }
}

function textOf({ format, pattern }: Schema): string {
  if (format === 'date-time') return '2026-11-21T09:30:00.000Z';
  if (format === 'uuid') return '4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21';
  return pattern === undefined || new RegExp(pattern).test(hostile) ? hostile : '2026-11-21';
}

/** The command lines, by the full name of the command. */
const lines: Readonly<Record<string, readonly string[]>> = {
  status: ['status', '--counts'],
  ready: ['ready', '101'],
  find: ['find', '--personal', 'ada'],
  items: ['items', 'attendees', '--pigeonhole', 'acme/101', '--personal'],
  why: ['why', 'question:9001'],
  preview: ['preview', '--sink', 'archive'],
  fields: ['fields', 'attendees'],
  pause: ['pause', 'sink:archive'],
  resume: ['resume', 'sink:archive'],
  'try-now': ['try-now', 'sink:archive'],
  'poll-now': ['poll-now', 'workspace:acme'],
  sweep: ['sweep', 'workspace:acme'],
  replay: ['replay', 'archive', '--dry-run'],
  'sink approve': ['sink', 'approve', 'archive', '--yes'],
  'sink test': ['sink', 'test', 'archive'],
  audit: ['audit', 'archive', '--results'],
  'dead-letters list': ['dead-letters', 'list'],
  'dead-letters show': ['dead-letters', 'show', '--personal'],
  'dead-letters redrive': ['dead-letters', 'redrive', '--sink', 'archive', '--yes'],
  'deletions list': ['deletions', 'list'],
  'config plan': ['config', 'plan'],
  'config apply': ['config', 'apply', '--yes'],
  'config history': ['config', 'history'],
  'config compare': ['config', 'compare', '3', '5'],
  'config undo': ['config', 'undo', '3', '--yes'],
  deliveries: ['deliveries', '--attempt', '4711', '--personal'],
  'deletions show': ['deletions', 'show', '1'],
  'deletions confirm': ['deletions', 'confirm', '1', '--yes'],
  'deletions reject': ['deletions', 'reject', '1', '--yes'],
  'erasures show': ['erasures', 'show', '1'],
  'erasures lift': ['erasures', 'lift', '1'],
  forget: ['forget', '--attendee', 'ada@example.com', '--yes'],
  'import pause': ['import', 'pause', '7'],
  'import resume': ['import', 'resume', '7'],
  'import cancel': ['import', 'cancel', '7', '--yes'],
  'statement key': ['statement', 'key'],
  'token create': ['token', 'create', 'page', '--role', 'viewer', '--expires', '1d'],
  'token revoke': ['token', 'revoke', 'page', '--yes'],
  'alerts list': ['alerts', 'list'],
  incidents: ['incidents'],
  'alerts test': ['alerts', 'test'],
  'import list': ['import', 'list'],
  'import status': ['import', 'status', '7'],
  'erasures list': ['erasures', 'list'],
  'token list': ['token', 'list'],
  'audit-log': ['audit-log'],
};

/** Commands that print no JSON answer of the API: they write files, follow a stream, or run without the API. */
const without = [
  'api',
  'apply',
  'backup',
  'check',
  'complete',
  'completion',
  'demo',
  'doctor',
  'erasures export',
  'export',
  'import',
  'import follow',
  'import report',
  'init',
  'key export',
  'live',
  'mcp',
  'open',
  'person',
  'restore',
  'sandbox',
  'start',
  'statement',
  'statement verify',
  'worker',
];

/** Runs a command on a terminal of 80 columns with colours, and returns everything that it prints. */
async function printed(words: readonly string[]): Promise<string> {
  const written: string[] = [];
  const stream = {
    isTTY: true,
    columns: 80,
    rows: 24,
    hasColors: () => true,
    write: (text: string) => written.push(text) > 0,
  };
  const out = outputTo(stream as unknown as NodeJS.WriteStream, stream);
  const program = createProgram(out, () => undefined);
  try {
    await program.parseAsync(['--config', api.config, ...words], { from: 'user' });
  } catch (error) {
    out.note(`pigeonpost: ${(error as Error).message}`); // as runCommandLine prints it
  }
  return written.join('');
}

function leavesOf(program: Command, path: readonly string[] = []): string[] {
  return program.commands.flatMap((command) => {
    const own = [...path, command.name()];
    const does = command.commands.length === 0 || command.registeredArguments.length > 0;
    return [...(does ? [own.join(' ')] : []), ...leavesOf(command, own)];
  });
}

const ownColour = /\u001b\[(?:1|2|22|31|32|33|39)m/g;

describe('a hostile text in an answer of the API', () => {
  it('is tried with every command that prints such an answer', () => {
    const nothing = { line: () => undefined, note: () => undefined, draw: () => undefined };
    const out = { ...nothing, terminal: false, colours: false, columns: 80, rows: 24 };
    const all = leavesOf(createProgram(out, () => undefined));
    expect(all.toSorted()).toEqual([...Object.keys(lines), ...without].toSorted());
  });

  it.each(Object.entries(lines))(
    'cannot colour, move, reorder or forge a line in the output of "%s"',
    async (_name, words) => {
      const text = await printed(words);
      expect(text).not.toBe('');
      expect(text.replaceAll(ownColour, '')).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      expect(text.split('\n').filter((line) => line.replaceAll(ownColour, '').startsWith(forged))).toEqual([]);
      expect(text).not.toContain('\u001b[31mred');
    },
  );
});

it('sends no query that the API does not describe', () => {
  expect(undescribed).toEqual([]);
});
