import { columnsOf, type Output } from './output.js';
import { Command, InvalidArgumentError } from 'commander';
import { ExitCode, wrongUse, CommandError } from './exit-code.js';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { shownText, wrapText } from './text-line.js';
import type { Action } from '../operations/action.js';

/** The environment of a command: its output and the global options. */
export interface Context {
  /** Path of pigeonpost.yaml, as the user wrote it. */
  readonly config: string;
  /** Address of a running pigeonpost, instead of that of `config`. */
  readonly url?: string | undefined;
  /** API token for `url`. */
  readonly token?: string | undefined;
  readonly out: Output;
}

/** Runs the code of a command in its context. Its exit code becomes that of the process. */
export type Run = (work: (context: Context) => Promise<ExitCode>, traits: Traits) => Promise<void>;

interface Traits {
  /** Full name of a command that does not use `--url` and `--token`, because it works with the file at `--config`. */
  readonly offline?: string;
  /** The command runs until a signal arrives, and then stops in order. */
  readonly holdsSignals?: boolean;
}

/** A command of pigeonpost. The commands below it are created and run in the same way. */
export class CliCommand extends Command {
  readonly #run: Run;

  constructor(name: string | undefined, run: Run) {
    super(name);
    this.#run = run;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.#run);
  }

  json(help = 'print one JSON document'): this {
    return this.option('--json', help, false);
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', exampleText(...lines));
  }

  /**
   * Sets the code of this command, which receives the arguments and then the options. The options include those of the
   * commands above it: if both have an option, commander assigns its value to the upper one, as for `import`.
   */
  runs<Words extends unknown[]>(
    work: (context: Context, ...words: Words) => Promise<ExitCode>,
    traits: Traits = {},
  ): this {
    return this.action((...words: unknown[]) => {
      const given = [...words.slice(0, -2), this.optsWithGlobals()] as Words; // commander passes the options and the command last
      return this.#run((context) => work(context, ...given), traits);
    });
  }
}

/** Options of a command that can print one JSON document. */
export interface JsonOption {
  readonly json: boolean;
}

export const reasonHelp = 'reason that status shows, without personal data';
export const personalHelp = 'also show the names and texts of people; needs the role privacy or admin, and is audited';

export function exampleText(...lines: readonly string[]): string {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', title, ...lines.map((line) => `  pigeonpost ${line}`)].join('\n');
}

/** Returns a parser for an option that is a whole number from `min` to `max`. */
export function wholeNumber(max: number, min = 1): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= min && count <= max) return count;
    throw new InvalidArgumentError(`give a whole number from ${min} to ${max}`);
  };
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Returns the name of the account that runs this command, for status and the audit log; undefined if it has none. */
export function operatorName(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    return undefined; // a user ID without an account entry, as in many containers
  }
}

/**
 * Asks the operator to confirm at the terminal. Every answer except "y" and "yes" declines, and so does Ctrl-C.
 * @param declined note that is printed if the operator declines
 * @throws {CommandError} exit 2 if there is no terminal
 */
export async function confirm(out: Pick<Output, 'note'>, question: string, declined: string): Promise<boolean> {
  const agrees = await isConfirmed(question);
  if (!agrees) out.note(declined);
  return agrees;
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw wrongUse(`${question} There is no terminal to confirm at: add --yes`);
  return /^y(es)?$/i.test((await askLine(`${question} [y/N]`)) ?? '');
}

/** Asks for one line at the terminal, which must exist. Returns it trimmed; null after Ctrl-C. */
export async function askLine(question: string): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const text = shownText(question, { colours: false });
    const shown = wrapText(text, { columns: columnsOf(process.stderr) }).join('\n');
    return (await lines.question(`${shown} `)).trim();
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return null;
    throw error;
  } finally {
    lines.close();
  }
}

type Words = typeof import('../operations/command-input.js');

/** Parses `list:key`; the list may be in the singular. @throws {CommandError} */
export async function parseItem(word: string): Promise<Exclude<ReturnType<Words['itemNamed']>, { problem: string }>> {
  const { itemNamed } = await import('../operations/command-input.js');
  const found = itemNamed(word);
  if ('list' in found) return found;
  throw new CommandError(found.notFound ? ExitCode.NotFound : ExitCode.WrongUse, found.problem);
}

/** Parses the name of one of these lists. @throws {CommandError} if there is no such list */
export async function parseList<Name extends string>(word: string, names: readonly Name[]): Promise<Name> {
  const { listNamed } = await import('../operations/command-input.js');
  const found = listNamed(word, names);
  if ('list' in found) return found.list;
  throw wrongUse(found.problem);
}

/** Parses ID or WORKSPACE/ID, or either after "pigeonhole:". @throws {CommandError} */
export async function parsePigeonhole(word: string): Promise<{ readonly id: string; readonly workspace?: string }> {
  const [, workspace, id] = /^(?:pigeonhole:)?(?:([a-z0-9][a-z0-9-]{0,62})\/)?(\d{1,15})$/.exec(word) ?? [];
  if (id === undefined) {
    const { shownWord } = await import('../operations/command-input.js');
    throw wrongUse(`"${shownWord(word)}" is not a pigeonhole: give its ID, or WORKSPACE/ID`);
  }
  return workspace === undefined ? { id } : { id, workspace };
}

/**
 * Parses a pigeonhole as `parsePigeonhole` does, and adds the workspace if the configuration has only one.
 * @throws {CommandError}
 */
export async function parseFullPigeonhole(
  word: string,
  workspaces: readonly string[] = [],
): Promise<{ readonly workspace: string; readonly id: string }> {
  const { id, workspace = workspaces.length === 1 ? workspaces[0] : undefined } = await parsePigeonhole(word);
  if (workspace !== undefined) return { workspace, id };
  const known = workspaces.length === 0 ? '' : `; the workspaces are ${workspaces.join(', ')}`;
  throw wrongUse(`"${id}" names no workspace: give WORKSPACE/${id}${known}`);
}

export interface KnownNames {
  readonly workspaces: readonly string[];
  readonly sinks: readonly string[];
}

type Target = Pick<Action, 'kind' | 'name'>;

/**
 * Parses the target of an action: `sink:crm`, or `crm` if only one object has that name; a pigeonhole also as
 * WORKSPACE/ID, or as ID if there is one workspace.
 * @param namesOf called only if the word does not name the kind
 * @throws {CommandError} exit 2
 */
export async function parseTarget(word: string, namesOf: () => Promise<KnownNames>): Promise<Target> {
  const [, kind, name] = /^(workspace|pigeonhole|sink):(.+)$/.exec(word) ?? [];
  if (kind !== undefined) return { kind: kind as Target['kind'], name: name! };
  if (/^[a-z0-9][a-z0-9-]{0,62}\/\d{1,15}$/.test(word)) return { kind: 'pigeonhole', name: word };
  const { workspaces, sinks } = await namesOf();
  const found: Target[] = [
    ...(workspaces.includes(word) ? [{ kind: 'workspace' as const, name: word }] : []),
    ...(sinks.includes(word) ? [{ kind: 'sink' as const, name: word }] : []),
    ...(/^\d{1,15}$/.test(word) && workspaces.length === 1
      ? [{ kind: 'pigeonhole' as const, name: `${workspaces[0]}/${word}` }]
      : []),
  ];
  if (found.length === 1) return found[0]!;
  const { nearestWord, shownWord } = await import('../operations/command-input.js');
  const nearest = nearestWord(word, [...sinks, ...workspaces]);
  throw wrongUse(
    found.length === 0
      ? `"${shownWord(word)}" is unknown: ${nearest === undefined ? 'write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME' : `did you mean "${nearest}"?`}`
      : `"${shownWord(word)}" is ambiguous: write ${found.map((each) => `${each.kind}:${each.name}`).join(' or ')}`,
  );
}
