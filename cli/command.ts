import { columnsOf, type Output } from './output.js';
import { InvalidArgumentError } from 'commander';
import { ExitCode, CommandError } from './exit-code.js';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { shownText, wrapText } from './text-line.js';

/** The environment of a command: its output and the global options. */
export interface Context {
  /** Path of pigeonpost.yaml, as the user wrote it. */
  readonly config: string;
  /** Address of a running pigeonpost, instead of that of `config`. */
  readonly url?: string | undefined;
  /** API token for `url`. */
  readonly token?: string | undefined;
  /** Print the stack trace of an unexpected error. */
  readonly debug: boolean;
  readonly out: Output;
}

/** Runs a command in its context. Its exit code becomes that of the process. */
export type Run = (command: (context: Context) => Promise<ExitCode>, traits?: Traits) => Promise<void>;

interface Traits {
  /** Full name of a command that does not use `--url` and `--token`, because it works with the file at `--config`. */
  readonly offline?: string;
  /** The command runs until a signal arrives, and then stops in order. */
  readonly holdsSignals?: boolean;
}

export const reasonHelp = 'reason that status shows, without personal data';
export const personalHelp = 'also show the names and texts of people; needs the role privacy or admin, and is audited';

/** Formats the examples below a command's help. */
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
 * @throws {CommandError} exit 2 if there is no terminal
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new CommandError(ExitCode.WrongUse, `${question} There is no terminal to confirm at: add --yes`);
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const text = shownText(`${question} [y/N]`, { colours: false });
    const shown = wrapText(text, { columns: columnsOf(process.stderr) }).join('\n');
    return /^y(es)?$/i.test((await lines.question(`${shown} `)).trim());
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  } finally {
    lines.close();
  }
}
