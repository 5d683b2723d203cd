import { createInterface } from 'node:readline/promises';
import type { Output } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import type { Asker } from './questions.js';

export interface AskingTerminal {
  readonly ask: Asker;
  close(): void;
}

/**
 * Takes what was given as a flag, else asks at the terminal, again until the answer can be used. Where there is no
 * terminal, or nobody is to be asked, what is suggested is taken.
 * @param options.interactive false: asks nothing
 */
export function askAtTerminal(out: Output, { interactive }: { interactive: boolean }): AskingTerminal {
  const lines = interactive ? createInterface({ input: process.stdin, output: process.stderr }) : undefined;
  return { ask: asker(out, lines && ((text) => lines.question(text))), close: () => lines?.close() };
}

/** @param question prints a text and gives the line that follows; undefined: nobody is there to be asked */
export function asker(out: Pick<Output, 'note'>, question: ((text: string) => Promise<string>) | undefined): Asker {
  return async ({ text, flag, suggested, problem }, given) => {
    if (given !== undefined || question === undefined) {
      const answer = given ?? suggested;
      if (answer === null) throw new CommandError(ExitCode.WrongUse, `${flag} is needed: ${lowered(text)}`);
      const wrong = problem(answer);
      if (wrong !== null) throw new CommandError(ExitCode.WrongUse, `${flag}: ${wrong}`);
      return answer;
    }
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one question after another
      const answer = (await question(`${text}${suggested === null ? '' : ` [${suggested}]`}: `)).trim();
      const meant = answer === '' ? suggested : answer;
      const wrong = meant === null ? 'something has to be written here' : problem(meant);
      if (wrong === null) return meant!;
      out.note(`  ${wrong}`);
    }
  };
}

function lowered(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
