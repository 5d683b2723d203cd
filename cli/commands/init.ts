import { codeOf } from '../../base/errors.js';
import type { CliCommand, Context, JsonOption } from '../command.js';
import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ListedEvents } from '../../operations/list-events.js';
import { type Output, printResult } from '../output.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import {
  addQuestion,
  askAll,
  askAtTerminal,
  askForSink,
  type Dialog,
  type EventsAnswer,
  type InitFlags,
  syncQuestion,
  type Trials,
} from '../init/questions.js';
import {
  type InitAnswers,
  newSink,
  schemaPath,
  type SinkAnswer,
  standInOf,
  standInsFor,
  writeConfiguration,
} from '../init/write-configuration.js';
import { packageRoot } from '../../base/package-root.js';
import { counted } from '../../base/words.js';
import { shownInLine, cell } from '../text-line.js';

export function addInit(program: CliCommand): void {
  program
    .command('init')
    .description('Write a pigeonpost.yaml from the answers to a few questions, or add a sink to it, then check it')
    .option('--service <url>', 'address of the service')
    .option('--key-variable <name>', 'environment variable with the API key')
    .option('--pigeonholes <which>', 'all, ids such as 101,102, or statuses such as upcoming,live')
    .option('--sink <type>', 'first destination, or the added one: file, webhook, slack, hubspot or postgres')
    .option('--destination <text>', "the sink's folder, address, channel or schema")
    .option('--secret-variable <name>', "environment variable with the sink's secret")
    .option('--add', 'add a sink to a file that exists', false)
    .option('--sync <name>', 'with --add: the sync that delivers to the sink')
    .option('--yes', 'ask no questions; use the default for everything that no option sets', false)
    .option('--no-check', 'do not check the file after writing it')
    .json('print one JSON document; implies --no-check')
    .examples(
      'init',
      'init --service https://api.example.com --pigeonholes 101,102 --sink file --yes',
      'init --add --sink slack --destination C0123456789 --yes',
    )
    .runs(init, { offline: 'init' });
}

interface InitOptions extends InitFlags, JsonOption {
  /** Whether to ask no questions and use the default for every missing option. */
  readonly yes: boolean;
  readonly check: boolean;
  /** Whether to add a sink to an existing file. */
  readonly add: boolean;
}

/**
 * `pigeonpost init`: asks a few questions, tries each answer, and writes a valid configuration without secrets, or adds
 * a sink to an existing file. Then checks it if its variables are set, and prints the next command. Exit 0 if the file
 * is written and the check, if any, found no problem; the exit code of `check` otherwise; 2 for an invalid answer.
 */
async function init(context: Context, { yes, check, json, add, ...flags }: InitOptions): Promise<ExitCode> {
  const { config: file, out } = context;
  const interactive = process.stdin.isTTY === true && !yes;
  const exists = existsSync(file);
  if (add && !exists) throw wrongUse(`${file} does not exist: run "pigeonpost init" without --add to create it`);
  if (exists && !add && (!interactive || flags.service !== undefined)) throw thereAlready(file);
  const terminal = askAtTerminal(out, { interactive });
  const trials = interactive ? trialsFor(out, file) : null;
  const dialog: Dialog = { ask: terminal.ask, note: (text) => out.note(text), trials };
  try {
    if (exists && !add && (await dialog.ask(addQuestion(file), undefined)) === 'no') throw thereAlready(file);
    const written = exists ? await addToFile(file, flags, dialog) : await writeFirst(file, flags, dialog);
    terminal.close();
    return await reportWritten(context, written, { check, json });
  } finally {
    terminal.close();
  }
}

interface Written {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly says: readonly string[];
  readonly unset: readonly string[];
  readonly next: string;
}

async function writeFirst(file: string, flags: InitFlags, dialog: Dialog): Promise<Written> {
  const { checkDraft } = await import('../../worker/check.js');
  const answers = await askAll(flags, dialog);
  const port = await freeServerPort();
  const text = writeConfiguration(answers, { port, schema: schemaPath(resolve(file), packageRoot()) });
  const { problems, unset } = await checkDraft(text, file, standInsFor(answers));
  if (problems.length > 0) {
    throw wrongUse(`no file was written, because it would be invalid: ${problems.join('; ')}`);
  }
  await writeNew(file, text);
  const inUse = `port ${defaultPort} is in use on this machine, so the API will listen on ${port} (server.port)`;
  return {
    facts: { port },
    says: [`${file} is written`, ...(port === defaultPort ? [] : [inUse])],
    unset,
    next: nextCommand(file, unset),
  };
}

/** Adds a sink to the text of an existing file, and to one of its syncs. Problems that the file had before stay. */
async function addToFile(file: string, flags: InitFlags, dialog: Dialog): Promise<Written> {
  const { addSink, namesIn } = await import('../../operations/drafts/add-sink.js');
  const { checkDraft } = await import('../../worker/check.js');
  const before = await readFile(file, 'utf8');
  const names = namesIn(before);
  if (names === null || names.syncs.length === 0) {
    throw wrongUse(`nothing can be added to ${file}: run "${withConfig(file, 'check')}" to see what is wrong with it`);
  }
  const earlier = await checkDraft(before, file, {});
  const { trials } = dialog;
  const textWith = (answer: SinkAnswer, sync: string): { name: string; text: string | null } => {
    const sink = newSink(answer, names.sinks);
    return { name: sink.name, text: addSink(before, sync, sink) };
  };
  const answer = await askForSink(flags, {
    ...dialog,
    trials: trials && {
      ...trials,
      sink: async (tried) => {
        const { name, text } = textWith(tried, names.syncs[0]!);
        return text === null ? null : await trySink({ file, text, name }, standInOf(tried), earlier.problems);
      },
    },
  });
  const sync =
    names.syncs.length === 1 && flags.sync === undefined
      ? names.syncs[0]!
      : await dialog.ask(syncQuestion(names.syncs), flags.sync);
  const { name, text } = textWith(answer, sync);
  if (text === null) {
    const lines = newSink(answer, names.sinks).lines.map((line) => `    ${line}`);
    throw wrongUse(
      [
        `nothing was added, because the form of ${file} is not supported. Add these lines to "sinks", and "${name}" to the sinks of sync ${sync}:`,
        `  ${name}:`,
        ...lines,
      ].join('\n'),
    );
  }
  const { problems, unset } = await checkDraft(text, file, standInOf(answer));
  const own = problems.filter((problem) => !earlier.problems.includes(problem));
  if (own.length > 0) throw wrongUse(`nothing was added, because the file would be invalid: ${own.join('; ')}`);
  await replaceWith(file, before, text);
  return {
    facts: { sink: name, sync },
    says: [`sink ${name} is added to ${file} and to sync ${sync}`],
    unset,
    next:
      unset.length > 0
        ? withConfig(file, 'check')
        : `${withConfig(file, 'config apply')} if pigeonpost runs, otherwise ${withConfig(file, 'start')}`,
  };
}

/**
 * Tries the sink of a draft: whether its keys are valid, and, if its variables are set, whether the destination accepts
 * them.
 * @param earlier problems of the file without the sink
 */
async function trySink(
  { file, text, name }: { readonly file: string; readonly text: string; readonly name: string },
  standIns: Readonly<Record<string, string>>,
  earlier: readonly string[] = [],
): Promise<string | null> {
  const { checkDraft, checkSinkOfDraft } = await import('../../worker/check.js');
  const { problems, unset } = await checkDraft(text, file, standIns);
  const own = problems.filter((problem) => !earlier.includes(problem));
  if (own.length > 0) return own.join('; ');
  const isSet = problems.length === 0 && unset.every((variable) => variable === draftKey);
  return isSet ? await checkSinkOfDraft(text, file, name, { [draftKey]: 'stand-in' }) : null;
}

/** The variable of the API key in a draft that only tries a sink. */
const draftKey = 'PIGEONPOST_DRAFT_KEY';

async function reportWritten(
  context: Context,
  { facts, says, unset, next }: Written,
  { check, json }: { readonly check: boolean; readonly json: boolean },
): Promise<ExitCode> {
  const { config: file, out } = context;
  if (json) return printResult(out, json, { file, unset, next, ...facts }, []);
  for (const line of says) out.line(line);
  for (const name of unset) out.line(`set ${name} first: export ${name}=…`);
  const found = check && unset.length === 0 ? await lookAtIt(context, out) : ExitCode.Done;
  out.line(
    found === ExitCode.Done ? `next: ${next}` : `fix each PROBLEM above, then run: ${withConfig(file, 'check')}`,
  );
  return found;
}

/** Tries answers against the service and the destinations, as far as their variables are set. */
function trialsFor(out: Output, file: string): Trials {
  return {
    service: async (service) => {
      const { findService } = await import('../../operations/list-events.js');
      const { checkDraft } = await import('../../worker/check.js');
      const draft = draftOf({ service, keyVariable: 'ENGAGEMENT_API_KEY' });
      const text = writeConfiguration(draft);
      const { problems } = await checkDraft(text, file, standInsFor(draft));
      return problems.length > 0 ? problems.join('; ') : await findService(text, resolve(file), standInsFor(draft));
    },
    events: async (found) => await showEvents(out, found, file),
    sink: async (sink) => {
      const { name } = newSink(sink, []);
      const draft = { ...draftOf({ service: 'https://127.0.0.1', keyVariable: draftKey }), sink };
      return await trySink({ file, text: writeConfiguration(draft), name }, standInsFor(draft));
    },
  };
}

/** Returns complete answers with a sink that needs no secret. */
function draftOf(found: EventsAnswer): InitAnswers {
  const sink = { type: 'file', destination: './archive', secretVariable: '' } as const;
  return { ...found, pigeonholes: 'all', sink };
}

/** Maximum number of events shown, live ones first; the others are counted. */
const maxShown = 20;

/**
 * Shows the events of the workspace if its key is already set.
 * @returns their IDs; null if they are unknown; a sentence if the service refused the request
 */
async function showEvents(
  out: Output,
  found: EventsAnswer,
  file: string,
): Promise<{ readonly problem: string } | readonly number[] | null> {
  const { eventsOfDraft } = await import('../../operations/list-events.js');
  const { checkDraft } = await import('../../worker/check.js');
  const draft = draftOf(found);
  const text = writeConfiguration(draft);
  const { problems, unset } = await checkDraft(text, file, standInsFor(draft));
  if (unset.length > 0) {
    out.note(`  to list the events of the workspace here, set ${found.keyVariable} before you run "pigeonpost init"`);
    return null;
  }
  const listed = problems.length > 0 ? { problem: problems.join('; ') } : await eventsOfDraft(text, resolve(file));
  if ('problem' in listed) return { problem: `the events cannot be listed: ${listed.problem}` };
  for (const line of formatEvents(listed, maxShown)) out.note(`  ${line}`);
  return listed.hasMore ? null : listed.events.map(({ id }) => id);
}

const defaultPort = 8088;
const highestPort = 8187;

/** Returns the default port, or the next free one: another pigeonpost may run on this machine. */
async function freeServerPort(): Promise<number> {
  const { isFree } = await import('../../worker/embedded-temporal/free-port.js');
  for (let port = defaultPort; port <= highestPort; port += 1) {
    // The first port is usually free.
    if (await isFree(port)) return port;
  }
  return defaultPort; // "start" reports the conflict
}

async function lookAtIt(context: Context, out: Output): Promise<ExitCode> {
  out.line('');
  const { check } = await import('./check.js');
  const found = await check(context, { json: false, estimate: false, quota: null, isLast: false });
  out.line('');
  return found;
}

/**
 * Writes a new file.
 * @throws {CommandError} if it cannot be written, or exists, even if another process has just created it
 */
async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((cause: unknown) => {
    if (codeOf(cause) === 'EEXIST') throw thereAlready(file);
    const message = `${file} cannot be written (${codeOf(cause)}): choose another path with --config`;
    throw new CommandError(ExitCode.Failed, message, { cause });
  });
}

/** Replaces the file. @throws {CommandError} if it cannot be written; then it was not changed */
async function replaceWith(file: string, before: string, text: string): Promise<void> {
  const { replaceFile } = await import('../../operations/drafts/replace-file.js');
  const refused = await replaceFile(file, before, text);
  if (refused === null) return;
  const why = refused.kind === 'changed' ? 'has changed meanwhile' : `cannot be written (${refused.code})`;
  throw new CommandError(ExitCode.Failed, `${file} ${why}, and was not changed`);
}

function thereAlready(file: string): CommandError {
  return wrongUse(
    `${file} already exists and was not changed: add a sink to it with --add, or choose another path with --config`,
  );
}

function nextCommand(file: string, unset: readonly string[]): string {
  return withConfig(file, unset.length === 0 ? 'start' : 'check');
}

function withConfig(file: string, command: string): string {
  return file === './pigeonpost.yaml' ? `pigeonpost ${command}` : `pigeonpost ${command} --config ${file}`;
}

const order = ['live', 'upcoming', 'new', 'ended'];
const nameWidth = 44;

/** Returns the events of a workspace as a list to choose from: live ones first, then by day. Pure. */
export function formatEvents({ events, hasMore }: ListedEvents, maxShown: number): string[] {
  if (events.length === 0) return ['the workspace has no pigeonholes yet'];
  const rank = (status: string | null): number => (order.indexOf(status ?? '') + order.length + 1) % (order.length + 1);
  const shown = events
    .toSorted((a, b) => rank(a.status) - rank(b.status) || a.startDate.localeCompare(b.startDate) || a.id - b.id)
    .slice(0, maxShown);
  const idWidth = Math.max(...shown.map(({ id }) => String(id).length));
  const more = events.length - shown.length;
  return [
    ...shown.map(({ id, name, status, startDate }) =>
      `${String(id).padStart(idWidth)}  ${cell(shownInLine(name), nameWidth)}  ${(status ?? '').padEnd(8)}  ${startDate.slice(0, 10)}`.trimEnd(),
    ),
    ...(more > 0 || hasMore
      ? [`and ${hasMore ? 'at least ' : ''}${counted(more, 'more pigeonhole', 'more pigeonholes')}`]
      : []),
  ];
}
