import { codeOf } from '../../base/errors.js';
import type { CliCommand, Context, JsonOption } from '../command.js';
import { writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ListedEvents } from '../../operations/list-events.js';
import { type Output, printResult } from '../output.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { askAtTerminal, askAll, type InitFlags } from '../init/questions.js';
import { type InitAnswers, standInsFor, writeConfiguration } from '../init/write-configuration.js';
import { counted } from '../../base/words.js';
import { shownInLine, cell } from '../text-line.js';

export function addInit(program: CliCommand): void {
  program
    .command('init')
    .description('Write a pigeonpost.yaml from the answers to a few questions, then check it')
    .option('--service <url>', 'address of the service')
    .option('--key-variable <name>', 'environment variable with the API key')
    .option('--pigeonholes <which>', 'all, ids such as 101,102, or statuses such as upcoming,live')
    .option('--sink <type>', 'first destination: file, webhook, slack, hubspot or postgres')
    .option('--destination <text>', "the sink's folder, address, channel or schema")
    .option('--secret-variable <name>', "environment variable with the sink's secret")
    .option('--yes', 'ask no questions; use the default for everything that no option sets', false)
    .option('--no-check', 'do not check the file after writing it')
    .json('print one JSON document; implies --no-check')
    .examples('init', 'init --service https://api.example.com --pigeonholes 101,102 --sink file --yes')
    .runs(init, { offline: 'init' });
}

interface InitOptions extends InitFlags, JsonOption {
  /** Whether to ask no questions and use the default for every missing option. */
  readonly yes: boolean;
  readonly check: boolean;
}

/**
 * `pigeonpost init`: asks a few questions and writes a valid configuration without secrets, never over an existing
 * file. Then checks it if its variables are set, and prints the next command. Exit 0 if the file is written and the
 * check, if any, found no problem; the exit code of `check` otherwise; 2 for an invalid answer.
 */
async function init(context: Context, { yes, check, json, ...flags }: InitOptions): Promise<ExitCode> {
  const { checkDraft } = await import('../../worker/check.js');
  const { config: file, out } = context;
  if (existsSync(file)) throw thereAlready(file);
  const interactive = process.stdin.isTTY === true && !yes;
  const terminal = askAtTerminal(out, { interactive });
  const answers = await askAll(flags, terminal.ask, async (found) =>
    interactive ? await showEvents(out, found, file) : null,
  ).finally(() => terminal.close());
  const port = await freeServerPort();
  const text = writeConfiguration(answers, port);
  const { problems, unset } = await checkDraft(text, file, standInsFor(answers));
  if (problems.length > 0) {
    throw wrongUse(`no file was written, because it would be invalid: ${problems.join('; ')}`);
  }
  await writeNew(file, text);
  const next = nextCommand(file, unset);
  if (json) return printResult(out, json, { file, unset, next, port }, []);
  out.line(`${file} is written`);
  if (port !== defaultPort) {
    out.line(`port ${defaultPort} is in use on this machine, so the API will listen on ${port} (server.port)`);
  }
  for (const name of unset) out.line(`set ${name} first: export ${name}=…`);
  const found = check && unset.length === 0 ? await lookAtIt(context, out) : ExitCode.Done;
  out.line(
    found === ExitCode.Done ? `next: ${next}` : `fix each PROBLEM above, then run: ${withConfig(file, 'check')}`,
  );
  return found;
}

/** Maximum number of events shown, live ones first; the others are counted. */
const maxShown = 20;

/** Shows the events of the workspace if its key is already set. @returns their IDs; null if they are unknown */
async function showEvents(
  out: Output,
  { service, keyVariable }: { readonly service: string; readonly keyVariable: string },
  file: string,
): Promise<readonly number[] | null> {
  const { eventsOfDraft } = await import('../../operations/list-events.js');
  const { checkDraft } = await import('../../worker/check.js');
  const draft: InitAnswers = {
    service,
    keyVariable,
    pigeonholes: 'all',
    sink: { type: 'file', destination: './archive', secretVariable: '' },
  };
  const text = writeConfiguration(draft);
  const { problems, unset } = await checkDraft(text, file, standInsFor(draft));
  if (unset.length > 0) {
    out.note(`  to list the events of the workspace here, set ${keyVariable} before you run "pigeonpost init"`);
    return null;
  }
  const listed = problems.length > 0 ? { problem: problems.join('; ') } : await eventsOfDraft(text, resolve(file));
  if ('problem' in listed) {
    out.note(`  the events cannot be listed: ${listed.problem}`);
    return null;
  }
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
  const found = await check(context, { json: false, estimate: false, quota: null });
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

function thereAlready(file: string): CommandError {
  return wrongUse(`${file} already exists and was not changed: move it, or choose another path with --config`);
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
