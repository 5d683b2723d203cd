import { InvalidArgumentError } from 'commander';
import type { Context } from './context.js';
import type { ExitCode } from './exit-code.js';

/** Runs a command in its context. Its exit code becomes that of the process. */
export type Run = (command: (context: Context) => Promise<ExitCode>) => Promise<void>;

export const reasonHelp = 'reason that status and the audit log show, without personal data';
export const personalHelp = 'also show the names and texts of people; needs the role privacy or admin, and is audited';

/** Formats the examples below a command's help. */
export function exampleText(...lines: readonly string[]): string {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', title, ...lines.map((line) => `  pigeonpost ${line}`)].join('\n');
}

/** Returns a parser for an option that is a whole number from 1 to `max`. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`give a whole number from 1 to ${max}`);
  };
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
