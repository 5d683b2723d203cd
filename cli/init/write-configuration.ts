import { dirname, isAbsolute, join, relative } from 'node:path';
import { configurationSchema } from '../../base/documents.js';
import { sinkForms } from '../../sinks/all-forms.js';
import type { ConnectField } from '../../sinks/connect.js';
import { isLoopback } from '../../base/loopback.js';
import type { NewSink } from '../../operations/drafts/add-sink.js';

/** The answers from which `init` writes a configuration, validated by `questions.ts`. */
export interface InitAnswers {
  /** Address of the service, without `/v2`. */
  readonly service: string;
  readonly keyVariable: string;
  readonly pigeonholes: PigeonholeAnswer;
  readonly sink: SinkAnswer;
}

export const statuses = ['new', 'upcoming', 'live', 'ended'] as const;

export type PigeonholeAnswer =
  | 'all'
  | { readonly ids: readonly number[] }
  | { readonly statuses: readonly (typeof statuses)[number][] };

export interface SinkAnswer {
  readonly type: InitSinkType;
  /** A folder, an address or a channel; empty if the secret is enough. */
  readonly destination: string;
  /** Name of the environment variable with its secret; empty if it has none. */
  readonly secretVariable: string;
}

interface Surroundings {
  /** The first free port. */
  readonly port?: number;
  /** Path of the JSON Schema, relative to the file or absolute; none in a draft. */
  readonly schema?: string;
}

/** Returns a pigeonpost.yaml for the answers, with comments at the keys that people change first. Pure. */
export function writeConfiguration(
  { service, keyVariable, pigeonholes, sink }: InitAnswers,
  { port = 8088, schema }: Surroundings = {},
): string {
  const { name, makes, lines } = initSinks[sink.type];
  return `${schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`}# Configuration of pigeonpost: the data to read and where to send it. docs/configuration.md describes every key.
# pigeonpost takes \${NAME} from the environment when it starts. Do not write secrets into this file.

workspaces:
  main: # a name of your own for one API key
    baseUrl: ${quoted(service)}
    apiKey: \${${keyVariable}}
    # quota: { reserve: 10% } # share of the key's requests that is reserved for imports of registrants

syncs:
  events:
    workspace: main
${choice(pigeonholes)}
    # every: { live: 5s, upcoming: 5m, ended: 6h } # polling intervals; "pigeonpost check --estimate" shows the requests they need
    # drop: { attendees: [linkedIn, "Dietary needs"] } # fields of items that are not stored
    sinks: [${name}]

sinks:
  ${name}: # ${makes}
${lines(sink)
  .map((line) => `    ${line}`)
  .join('\n')}

# The ledger is in ./data beside this file. Keep it: it records what was delivered. For several processes:
# store: \${DATABASE_URL}
# ledgerKey: \${LEDGER_KEY} # openssl rand -base64 32; the same for every process, and kept apart from the backups
# temporal: { address: "127.0.0.1:7233" }
${port === 8088 ? '' : `\nserver:\n  port: ${port} # 8088 was in use on this machine\n`}`;
}

/** Returns a sink for a file that has others; its name gets a number if the usual one is taken. Pure. */
export function newSink(answer: SinkAnswer, taken: readonly string[]): NewSink {
  const { name, makes, lines } = initSinks[answer.type];
  let free = name;
  for (let number = 2; taken.includes(free); number += 1) free = `${name}-${number}`;
  return { name: free, comment: makes, lines: lines(answer) };
}

/**
 * Returns the path of the schema in this package for the file's first line: relative if the package is installed below
 * the file's folder, so that a team can share the file, and otherwise absolute. Pure.
 */
export function schemaPath(file: string, root: string): string {
  const absolute = join(root, configurationSchema);
  const path = relative(dirname(file), absolute);
  const isBelow = path !== '' && !path.startsWith('..') && !isAbsolute(path);
  return isBelow ? `./${path}` : absolute;
}

function choice(pigeonholes: PigeonholeAnswer): string {
  if (pigeonholes === 'all') return '    # pigeonholes: [101, 102] # all, unless you uncomment this line';
  if ('ids' in pigeonholes) return `    pigeonholes: [${pigeonholes.ids.join(', ')}]`;
  return `    pigeonholes:
      status: [${pigeonholes.statuses.join(', ')}] # for individual pigeonholes, replace these lines with "pigeonholes: [101, 102]"
      # name: "^ACME " # a regular expression`;
}

const consentOf = {
  all: '# consent: { accept: [obtained, not-asked, not-known], basis: "own records" } # by default everyone except people who refused',
  obtained: 'consent: { accept: [obtained], basis: "consent given at sign-in" }',
} as const;

/** A type of sink that needs only a few questions; docs/sinks.md describes the others. */
interface InitSink {
  readonly name: string;
  readonly makes: string;
  /** Null if there is no such question for this type. */
  readonly destination: { readonly question: string; readonly suggested: string | null } | null;
  readonly secret: {
    readonly question: string;
    readonly suggested: string;
    /** A value in the form that the key requires, with which the draft is validated. */
    readonly standIn: string;
  } | null;
  readonly lines: (sink: SinkAnswer) => string[];
}

export const sinkTypes = ['file', 'webhook', 'slack', 'hubspot', 'postgres'] as const;
export type InitSinkType = (typeof sinkTypes)[number];

/** Lines that `init` adds to those of the form: whose records are sent. */
const added: Readonly<Record<InitSinkType, (sink: SinkAnswer) => string[]>> = {
  file: () => [consentOf.all],
  webhook: ({ destination }) => [
    ...(isOwnMachine(destination) ? ['allowPrivateAddresses: true # the receiver is on this machine'] : []),
    '# lists: [questions, votes] # all by default',
    consentOf.obtained,
  ],
  slack: () => [],
  hubspot: () => [
    'mode: observe # only counts; to send, run "pigeonpost sink approve crm" or remove this line',
    consentOf.obtained,
  ],
  postgres: () => [consentOf.all],
};

/** The questions and the configuration of each type of sink, from the form with which the page connects it. */
export const initSinks = Object.fromEntries(sinkTypes.map((type) => [type, initSink(type)])) as Readonly<
  Record<InitSinkType, InitSink>
>;

function initSink(type: InitSinkType): InitSink {
  const form = sinkForms[type];
  const { name, makes, fields } = form;
  const destination = fields.find(({ kind, optional }) => kind !== 'secret' && optional !== true);
  const secret = fields.find(({ kind }) => kind === 'secret');
  return {
    name,
    makes,
    destination:
      destination === undefined
        ? null
        : { question: questionOf(destination), suggested: destination.suggested ?? null },
    secret:
      secret === undefined
        ? null
        : {
            question: `Environment variable with the ${lowered(secret.label)}`,
            suggested: secret.suggested!,
            standIn: secret.standIn,
          },
    lines: (sink) => {
      const given = {
        ...(destination === undefined ? {} : { [destination.key]: sink.destination }),
        ...(secret === undefined ? {} : { [secret.key]: `\${${sink.secretVariable}}` }),
      };
      return [...form.lines(given, {}), ...added[type](sink)];
    },
  };
}

function questionOf({ label, kind }: ConnectField): string {
  return kind === 'choice' ? `ID of the ${lowered(label)}` : label;
}

/** Lowers the first letter, unless it belongs to an abbreviation. */
function lowered(label: string): string {
  return /^[A-Z][a-z ]/.test(label) ? `${label[0]!.toLowerCase()}${label.slice(1)}` : label;
}

/** Returns a value for each variable of the file, with which the draft is validated before it is written. */
export function standInsFor({ keyVariable, sink }: Pick<InitAnswers, 'keyVariable' | 'sink'>): Record<string, string> {
  return { [keyVariable]: 'stand-in', ...standInOf(sink) };
}

/** Returns a value for the variable of a sink's secret; nothing if it has none. */
export function standInOf({ type, secretVariable }: SinkAnswer): Record<string, string> {
  const { secret } = initSinks[type];
  return secret === null ? {} : { [secretVariable]: secret.standIn };
}

/** Quotes a text for YAML. Every JSON string is valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function isOwnMachine(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}
