import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from '@hono/zod-openapi';
import { isLoopback } from '../../base/loopback.js';
import { configuredName, printable } from '../../base/printable.js';
import type { Config } from '../../config/config.js';
import { ConfigError, type Problem } from '../../config/config-error.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { createSink } from '../../delivering/open-sinks.js';
import { seenFields } from '../../ledger/seen-fields.js';
import { sinkForms } from '../../sinks/all-forms.js';
import type { SinkTypeName } from '../../sinks/all-reasons.js';
import type { Choices, ConnectField, ConnectForm, SeenNames } from '../../sinks/connect.js';
import { loadCandidateConfig } from '../load-process-config.js';
import { addSink, namesIn } from './add-sink.js';
import type { DraftContent } from '../../ledger/configuration-drafts.js';
import { type ComparedDraft, type Current, DraftError, ownText, storeDraft } from './drafts.js';
import { referenceTo } from './sink-reference.js';
import { shownItemSchema, triedMappingSchema, tryLoaded } from './try-mapping.js';

/** Time limit for the checks and the choices of a destination. */
const askMs = 20_000;
const sampledItems = 50;
/** Number of items whose calls are shown. */
const shownExamples = 3;

export const connectRequestSchema = z
  .strictObject({
    type: printable(40),
    name: configuredName().describe('Name of the new sink.'),
    sync: configuredName().describe('The sync that delivers to it.'),
    given: z
      .record(printable(60), z.string().max(2000))
      .describe('Answers by the key of their field. A secret is the name of a variable, or `file:` and a path.'),
  })
  .openapi('ConnectRequest');
export type ConnectRequest = z.infer<typeof connectRequestSchema>;

const fieldSchema = z.object({
  key: z.string(),
  label: z.string(),
  kind: z.enum(['text', 'address', 'secret', 'folder', 'choice', 'choices']),
  hint: z.string(),
  suggested: z.string().nullable(),
  optional: z.boolean(),
});

export const sinkFormsSchema = z.object({
  types: z
    .array(
      z.object({
        type: z.string(),
        title: z.string(),
        makes: z.string(),
        name: z.string().describe('A free name for the new sink.'),
        secrets: z.string().nullable().describe('First part of the names of its variables.'),
        fields: z.array(fieldSchema).readonly(),
      }),
    )
    .readonly(),
  syncs: z.array(z.string()).readonly(),
});

const choicesSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('offered'),
    items: z.array(z.object({ value: z.string(), label: z.string(), note: z.string().optional() })).readonly(),
    more: z.boolean(),
  }),
  z.object({ kind: z.literal('refused'), detail: z.string() }),
]);

export const triedSinkSchema = z
  .object({
    problems: z
      .array(z.object({ key: z.string().describe('Key of a field; empty: the sink as a whole.'), message: z.string() }))
      .readonly(),
    secrets: z
      .array(z.object({ key: z.string(), reference: z.string(), isSet: z.boolean() }))
      .readonly()
      .describe('Whether this process sees each secret. Values are never returned.'),
    checks: z
      .array(z.object({ ok: z.boolean(), warning: z.boolean(), text: z.string() }))
      .readonly()
      .nullable()
      .describe('What `pigeonpost check` says; null while something is missing.'),
    choices: z.record(z.string(), choicesSchema).readonly().describe('Values that the destination offers, by field.'),
    body: z.string().nullable().describe('The lines of the sink; null while something is missing.'),
    tried: triedMappingSchema.nullable().describe('What it would receive of stored items.'),
    examples: z.array(shownItemSchema).readonly().describe('The calls for a few items.'),
  })
  .openapi('TriedSink');
export type TriedSink = z.infer<typeof triedSinkSchema>;
type SinkProblem = TriedSink['problems'][number];

/** Returns the forms of all sink types, and the syncs that could deliver to a new sink. */
export async function listSinkForms({ config }: Pick<Current, 'config'>): Promise<z.infer<typeof sinkFormsSchema>> {
  const names = namesIn(await ownText(config));
  const taken = names?.sinks ?? [];
  const types = Object.entries(sinkForms).map(([type, { title, makes, name, secrets, fields }]) => ({
    type,
    title,
    makes,
    name: freeName(name, taken),
    secrets,
    fields: fields.map(({ standIn: _, suggested = null, optional = false, ...field }) => {
      return { ...field, suggested, optional };
    }),
  }));
  return { types, syncs: names?.syncs ?? [] };
}

function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number += 1) free = `${name}-${number}`;
  return free;
}

/** A new sink as far as it was entered. */
interface Entered {
  readonly form: ConnectForm;
  readonly file: string;
  /** Answers without mistakes; a secret as its reference. */
  readonly answers: Readonly<Record<string, string>>;
  readonly problems: readonly SinkProblem[];
  /** Fields without an answer. */
  readonly missing: readonly ConnectField[];
  /** The environment, with stand-ins for the variables that are not set. */
  readonly filled: Environment;
  readonly secrets: TriedSink['secrets'];
}

/**
 * Tries a new sink: finds what is missing, makes the checks of `pigeonpost check` as soon as the secrets are set, lists the
 * destination's choices, proposes a mapping, and shows what the sink would receive of stored items. Sends and changes
 * nothing, here or there.
 * @throws {DraftError} for an unknown type
 */
export async function trySink(
  current: Current,
  asked: ConnectRequest,
  { personal, environment = processEnvironment() }: { readonly personal: boolean; readonly environment?: Environment },
): Promise<TriedSink> {
  const entered = await enter(current, asked, environment);
  const { form, problems, missing, secrets } = entered;
  const seen = await seenNames(current, form, asked.sync);
  const mayAsk = problems.length === 0 && secrets.length === countSecrets(form) && secrets.every(({ isSet }) => isSet);
  const choices = mayAsk ? await choicesOf(current.config, asked, entered, seen, environment) : {};
  if (problems.length > 0 || missing.length > 0) {
    return { problems, secrets, checks: null, choices, body: null, tried: null, examples: [] };
  }
  const body = bodyOf(form, entered.answers, seen);
  const loaded = await load(current.config, { asked, entered, body }, entered.filled, 'stand-ins');
  if ('problems' in loaded)
    return { problems: loaded.problems, secrets, checks: null, choices, body: null, tried: null, examples: [] };
  const shows = { name: asked.name, item: null, personal, examples: shownExamples };
  const { tried, examples } = await tryLoaded(current, shows, loaded.config);
  if (!mayAsk) return { problems, secrets, checks: null, choices, body, tried, examples };
  const real = await load(current.config, { asked, entered, body }, environment, 'secrets');
  if ('problems' in real) return { problems: real.problems, secrets, checks: null, choices, body, tried, examples };
  const sink = createSink(real.config, asked.name);
  try {
    const lines = await sink.check(AbortSignal.timeout(askMs));
    const checks = lines.map(({ ok, warning = false, text }) => ({ ok, warning, text }));
    return { problems, secrets, checks, choices, body, tried, examples };
  } finally {
    await sink.close();
  }
}

/**
 * Saves a new sink as a draft. It starts in `observe`.
 * @throws {DraftError} if something is missing or wrong, or if another draft of this name was saved meanwhile
 */
export async function saveSinkDraft(
  current: Current,
  asked: ConnectRequest,
  {
    by,
    replaces,
    environment = processEnvironment(),
  }: {
    readonly by: string;
    readonly replaces: number | null;
    readonly environment?: Environment;
  },
): Promise<ComparedDraft> {
  const entered = await enter(current, asked, environment);
  const { form, answers, missing, filled } = entered;
  const wrong = [...entered.problems, ...missing.map(({ key, label }) => ({ key, message: `${label} is missing` }))];
  const body = bodyOf(form, answers, await seenNames(current, form, asked.sync));
  const loaded =
    wrong.length > 0 ? { problems: wrong } : await load(current.config, { asked, entered, body }, filled, 'stand-ins');
  if ('problems' in loaded) {
    throw new DraftError(
      'unusable',
      loaded.problems.map(({ key, message }) => `${key === '' ? '' : `${key}: `}${message}`).join('; '),
    );
  }
  const draft: DraftContent = { sink: asked.name, kind: 'sink', body, base: null, sync: asked.sync };
  return { ...(await storeDraft(current, draft, { by, replaces })), conflict: null };
}

function countSecrets({ fields }: ConnectForm): number {
  return fields.filter(({ kind }) => kind === 'secret').length;
}

async function enter({ config }: Current, asked: ConnectRequest, environment: Environment): Promise<Entered> {
  const { type, name, sync, given } = asked;
  if (!Object.hasOwn(sinkForms, type)) throw new DraftError('unknown', 'there is no sink type of this name');
  const form = sinkForms[type as SinkTypeName];
  const file = await ownText(config);
  const names = namesIn(file);
  const problems: SinkProblem[] = [];
  const problem = (key: string, message: string): void => void problems.push({ key, message });
  if (names === null) problem('', 'pigeonpost.yaml has a form to which no sink can be added here: use a text editor');
  else {
    if (names.sinks.includes(name))
      problem('name', `a sink of this name exists: choose another name, such as ${freeName(form.name, names.sinks)}`);
    if (!names.syncs.includes(sync)) problem('sync', 'choose one of the syncs of the file');
  }
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) problem('name', 'use small letters, digits and hyphens');
  const answers: Record<string, string> = {};
  const missing: ConnectField[] = [];
  const inherited = inheritedAddress(file, type, form);
  if (inherited !== undefined) answers['baseUrl'] = inherited;
  for (const field of form.fields.filter(({ kind }) => kind !== 'secret')) {
    const answer = (given[field.key] ?? '').trim();
    if (answer === '') {
      if (field.optional !== true) missing.push(field);
      continue;
    }
    const wrong = mistakeIn(field, answer);
    if (wrong === null) answers[field.key] = answer;
    else problem(field.key, wrong);
  }
  const addressKeys = form.fields.filter(({ kind }) => kind === 'address').map(({ key }) => key);
  const addresses = Object.fromEntries([...addressKeys, 'baseUrl'].map((key) => [key, answers[key]]));
  const secrets: { key: string; reference: string; isSet: boolean }[] = [];
  const filled: Record<string, string | undefined> = { ...environment };
  for (const field of form.fields.filter(({ kind }) => kind === 'secret')) {
    const entered = (given[field.key] ?? '').trim();
    if (entered === '') {
      missing.push(field);
      continue;
    }
    const found = referenceTo(entered, {
      prefix: form.secrets!,
      file,
      folder: dirname(config.file),
      type,
      addresses,
    });
    if ('problem' in found) {
      problem(field.key, found.problem);
      continue;
    }
    const { reference } = found;
    answers[field.key] = reference;
    const variable = /^\$\{([A-Z0-9_]+)\}$/.exec(reference)?.[1];
    const isSet = variable === undefined ? isReadable(reference) : (environment[variable] ?? '') !== '';
    if (variable !== undefined && !isSet) filled[variable] = field.standIn;
    secrets.push({ key: field.key, reference, isSet });
  }
  return { form, file, answers, problems, missing, filled, secrets };
}

function isReadable(reference: string): boolean {
  return existsSync(/^\$\{file:(.+)\}$/.exec(reference)![1]!);
}

/**
 * Returns the address that another sink of the type uses in place of the vendor's, such as that of a proxy. A person cannot
 * enter one: the page would send a secret there.
 */
function inheritedAddress(file: string, type: string, form: ConnectForm): string | undefined {
  if (form.fields.some(({ key }) => key === 'baseUrl')) return undefined;
  const document = parseDocument(file, { prettyErrors: false });
  const sinks = document.errors.length > 0 ? {} : ((document.toJS() as { sinks?: object } | null)?.sinks ?? {});
  for (const sink of Object.values(sinks) as Readonly<Record<string, unknown>>[]) {
    const { baseUrl } = sink;
    if (sink['type'] === type && typeof baseUrl === 'string' && !baseUrl.includes('${')) return baseUrl;
  }
  return undefined;
}

/** Returns what is wrong with an answer, without a repetition of it; null if nothing is. */
function mistakeIn({ kind }: ConnectField, answer: string): string | null {
  if (answer.includes('${')) return 'only secrets are references: write the value itself';
  if (/[\u0000-\u001f\u007f]/.test(answer)) return 'control characters are not allowed';
  if (kind === 'address' && !/^https:\/\/[^\s/@]+(?:\/\S*)?$/.test(answer))
    return 'enter an address that begins with https://, without a user name';
  // A sink may reach the machine itself. That is for addresses of those who may edit the file.
  if (kind === 'address' && (!URL.canParse(answer) || isLoopback(new URL(answer).hostname)))
    return 'an address of this machine can only be written in the file';
  if (kind === 'folder' && (/^[/\\]/.test(answer) || answer.split(/[/\\]/).includes('..')))
    return 'enter a folder below the one of pigeonpost.yaml, such as ./archive';
  if (kind === 'choices' && !/^[\w.,-]+$/.test(answer)) return 'choose from the list';
  return null;
}

/** Returns the lines of the sink. A new sink counts, and sends only after an approval. */
function bodyOf(form: ConnectForm, answers: Entered['answers'], seen: SeenNames): string {
  const [type, ...lines] = form.lines(answers, seen);
  const observe = 'mode: observe # counts what it would send; approve it on the page of the sink, or remove this line';
  return `${[type, observe, ...lines].join('\n')}\n`;
}

/** Returns the names of the fields that stored items of the sync have, in the lists that the form reads. */
async function seenNames({ config, ledger }: Current, { reads }: ConnectForm, sync: string): Promise<SeenNames> {
  const workspace = config.syncs[sync]?.workspace;
  if (workspace === undefined) return {};
  const found: Record<string, readonly string[]> = {};
  for (const list of reads) {
    const places = await seenFields(ledger, { list, workspace, pigeonholeId: null, sample: sampledItems });
    found[list] = [...new Set(places.flatMap(({ fields }) => fields.map(({ field }) => field)))];
  }
  return found;
}

/** Lists the choices of the destination, with stand-ins for the answers that are still missing. */
async function choicesOf(
  own: Config,
  asked: ConnectRequest,
  entered: Entered,
  seen: SeenNames,
  environment: Environment,
): Promise<Record<string, Choices>> {
  const { form, missing } = entered;
  const fields = form.fields.filter(({ kind }) => kind === 'choice' || kind === 'choices');
  const needed = missing.filter((field) => !fields.includes(field) && field.kind !== 'text');
  if (fields.length === 0 || needed.length > 0) return {};
  const answers = { ...Object.fromEntries(missing.map(({ key, standIn }) => [key, standIn])), ...entered.answers };
  const body = bodyOf(form, answers, seen);
  const loaded = await load(own, { asked, entered, body }, environment, 'secrets');
  if ('problems' in loaded) return {};
  const sink = createSink(loaded.config, asked.name);
  const found: Record<string, Choices> = {};
  try {
    for (const { key } of fields) {
      const choices = await sink.choices?.(key, AbortSignal.timeout(askMs));
      if (choices !== undefined) found[key] = choices;
    }
    return found;
  } finally {
    await sink.close();
  }
}

/** Loads the file with the new sink. @param values `stand-ins`: in place of all secrets, because nothing is sent */
async function load(
  own: Config,
  { asked, entered, body }: { readonly asked: ConnectRequest; readonly entered: Entered; readonly body: string },
  environment: Environment,
  values: 'secrets' | 'stand-ins',
): Promise<{ readonly config: Config } | { readonly problems: readonly SinkProblem[] }> {
  const { name, sync } = asked;
  const lines = body.trimEnd().split('\n');
  const text = addSink(entered.file, sync, { name, comment: entered.form.makes, lines });
  if (text === null)
    return {
      problems: [
        { key: '', message: 'pigeonpost.yaml has a form to which no sink can be added here: use a text editor' },
      ],
    };
  const place = { shownFile: own.file, absoluteFile: own.file };
  try {
    const config = await loadCandidateConfig(text, place, environment, values === 'stand-ins' ? text : undefined);
    return { config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map((problem) => toSinkProblem(problem, name)) };
  }
}

function toSinkProblem({ key, message, line }: Problem, name: string): SinkProblem {
  const prefix = `sinks.${name}`;
  if (key === prefix) return { key: '', message };
  if (key.startsWith(`${prefix}.`)) return { key: key.slice(prefix.length + 1), message };
  return { key: '', message: `line ${line} of the file: ${message}` };
}
