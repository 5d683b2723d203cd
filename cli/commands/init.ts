import { writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkDraft } from '../../worker/check-draft.js';
import { eventsOfDraft } from '../../operations/list-events.js';
import { isFree } from '../../worker/embedded-temporal/free-port.js';
import type { Context, Output } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import type { InitAnswers, InitSinkType } from '../init/answers.js';
import { askAtTerminal } from '../init/ask-at-terminal.js';
import { formatEvents } from '../init/format-events.js';
import { askAll, type InitFlags } from '../init/questions.js';
import { writeConfiguration } from '../init/write-configuration.js';

export interface InitOptions extends InitFlags {
  /** Ask nothing: take what is suggested for what no flag says. */
  readonly yes: boolean;
  readonly check: boolean;
  readonly json: boolean;
}

/**
 * `pigeonpost init`: asks a few questions and writes a configuration that can be used, never over another one and never
 * with a secret in it; then looks at all that it names, where its variables are set, and says what to do next. Exit 0
 * when the file is written and, if it was looked at, all is well; else as `check`; 2 for an answer that cannot be used.
 */
export async function init(context: Context, { yes, check, json, ...flags }: InitOptions): Promise<ExitCode> {
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
    throw new CommandError(
      ExitCode.WrongUse,
      `nothing was written, since it could not be used: ${problems.join('; ')}`,
    );
  }
  await writeNew(file, text);
  const next = nextCommand(file, unset);
  if (json) {
    out.line(JSON.stringify({ file, unset, next, port }));
    return ExitCode.Done;
  }
  out.line(`${file} is written`);
  if (port !== defaultPort) {
    out.line(`port ${defaultPort} is in use on this machine, so its API listens on ${port} (server.port)`);
  }
  for (const name of unset) out.line(`set ${name} before you go on: export ${name}=…`);
  const found = check && unset.length === 0 ? await lookAtIt(context, out) : ExitCode.Done;
  out.line(
    found === ExitCode.Done ? `next: ${next}` : `mend what is a PROBLEM above, then: ${withConfig(file, 'check')}`,
  );
  return found;
}

/** More are only counted; live events are shown first. */
const maxShown = 20;

/** Shows the events of the workspace where its key can be used already. @returns their ids; null where none are known */
async function showEvents(
  out: Output,
  { service, keyVariable }: { readonly service: string; readonly keyVariable: string },
  file: string,
): Promise<readonly number[] | null> {
  const draft: InitAnswers = {
    service,
    keyVariable,
    pigeonholes: 'all',
    sink: { type: 'file', destination: './archive', secretVariable: '' },
  };
  const text = writeConfiguration(draft);
  const { problems, unset } = await checkDraft(text, file, standInsFor(draft));
  if (unset.length > 0) {
    out.note(`  set ${keyVariable} before "pigeonpost init" to have the events of the workspace listed here`);
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

/** The port of the API unless the file says otherwise. */
const defaultPort = 8088;
const highestPort = 8187;

/** The default port, or the next one that nothing listens on: another pigeonpost may run on this machine. */
async function freeServerPort(): Promise<number> {
  for (let port = defaultPort; port <= highestPort; port += 1) {
    // oxlint-disable-next-line no-await-in-loop -- mostly one
    if (await isFree(port)) return port;
  }
  return defaultPort; // "start" says what is in the way
}

async function lookAtIt(context: Context, out: Output): Promise<ExitCode> {
  out.line('');
  const { check } = await import('./check.js');
  const found = await check(context, { json: false, estimate: false, quota: null });
  out.line('');
  return found;
}

/** Values that have the right form and mean nothing, for a look at the whole before anything is written. */
function standInsFor({ keyVariable, sink }: InitAnswers): Record<string, string> {
  const secrets: Readonly<Record<InitSinkType, string>> = {
    file: '',
    webhook: `whsec_${Buffer.alloc(32).toString('base64')}`,
    slack: 'xoxb-stand-in',
    hubspot: 'stand-in',
    postgres: 'postgres://stand-in@127.0.0.1/stand-in',
  };
  const { secretVariable, type } = sink;
  return { [keyVariable]: 'stand-in', ...(secretVariable === '' ? {} : { [secretVariable]: secrets[type] }) };
}

/** @throws {CommandError} also when somebody else has just written it */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw thereAlready(file);
    throw new CommandError(
      ExitCode.Failed,
      `${file} cannot be written (${code ?? 'unknown error'}): name another with --config`,
      { cause: error },
    );
  }
}

function thereAlready(file: string): CommandError {
  return new CommandError(
    ExitCode.WrongUse,
    `${file} is there already and is left as it is: move it away, or name another with --config`,
  );
}

function nextCommand(file: string, unset: readonly string[]): string {
  return withConfig(file, unset.length === 0 ? 'start' : 'check');
}

function withConfig(file: string, command: string): string {
  return file === './pigeonpost.yaml' ? `pigeonpost ${command}` : `pigeonpost ${command} --config ${file}`;
}
