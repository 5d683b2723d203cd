import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { CommandError, ExitCode } from './exit-code.js';
import { shownText } from './text-line.js';

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
    return /^y(es)?$/i.test((await lines.question(`${shownText(question, { colours: false })} [y/N] `)).trim());
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  } finally {
    lines.close();
  }
}
