import {
  type InitAnswers,
  type InitSinkType,
  type PigeonholeAnswer,
  sinkFacts,
  sinkTypes,
  statuses,
} from './answers.js';
import { createInterface } from 'node:readline/promises';
import type { Output } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';

/** Answers given as options; the others are asked for. */
export interface InitFlags {
  readonly service?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly pigeonholes?: string | undefined;
  readonly sink?: string | undefined;
  readonly destination?: string | undefined;
  readonly secretVariable?: string | undefined;
}

/** One thing to be known: as a question at a terminal, as a flag elsewhere. */
interface Question {
  readonly text: string;
  readonly flag: string;
  /** Taken when nothing is answered; null: there is nothing that would fit. */
  readonly suggested: string | null;
  /** A sentence on what is wrong with an answer; null: it can be used. Never holds the answer, which may be a secret. */
  readonly problem: (answer: string) => string | null;
}

/** Gives the answer to a question, one that has no problem. @throws when there is none */
type Asker = (question: Question, given: string | undefined) => Promise<string>;

/**
 * Asks what `init` has to know, in an order in which each question is meaningful.
 * @param showEvents shows what the workspace has, once the key's variable is known; null: nothing could be shown
 */
export async function askAll(
  flags: InitFlags,
  ask: Asker,
  showEvents: (found: { readonly service: string; readonly keyVariable: string }) => Promise<readonly number[] | null>,
): Promise<InitAnswers> {
  const service = (await ask(serviceQuestion, flags.service)).replace(/\/+$/, '').replace(/\/v2$/, '');
  const keyVariable = await ask(
    variable('Environment variable with the API key', '--key-variable', 'ENGAGEMENT_API_KEY'),
    flags.keyVariable,
  );
  const ids = flags.pigeonholes === undefined ? await showEvents({ service, keyVariable }) : null;
  const pigeonholes = toPigeonholes(await ask(pigeonholesQuestion(ids), flags.pigeonholes)) as PigeonholeAnswer;
  const type = (await ask(sinkQuestion, flags.sink)) as InitSinkType;
  const { destination, secret } = sinkFacts[type];
  return {
    service,
    keyVariable,
    pigeonholes,
    sink: {
      type,
      destination:
        destination === null
          ? ''
          : await ask(
              { text: destination.question, flag: '--destination', suggested: destination.suggested, problem: isText },
              flags.destination,
            ),
      secretVariable:
        secret === null
          ? ''
          : await ask(variable(secret.question, '--secret-variable', secret.suggested), flags.secretVariable),
    },
  };
}

const serviceQuestion: Question = {
  text: 'Address of the service',
  flag: '--service',
  suggested: null,
  problem: (answer) =>
    URL.canParse(answer) && /^https?:$/.test(new URL(answer).protocol)
      ? null
      : 'write an address such as https://api.example.com',
};

/** @param ids of the events that were shown; null: none were, so any may be meant */
function pigeonholesQuestion(ids: readonly number[] | null): Question {
  return {
    text: 'Which pigeonholes: all, ids, or statuses',
    flag: '--pigeonholes',
    suggested: 'new,upcoming,live',
    problem: (answer) => {
      const chosen = toPigeonholes(answer);
      if (chosen === undefined) return `write all, ids such as 101,102, or some of ${statuses.join(', ')}`;
      const unknown =
        chosen === 'all' || !('ids' in chosen) || ids === null ? [] : chosen.ids.filter((id) => !ids.includes(id));
      return unknown.length === 0 ? null : `${unknown.join(', ')} is not in the list above`;
    },
  };
}

const sinkQuestion: Question = {
  text: `Where changes go first: ${sinkTypes.join(', ')}`,
  flag: '--sink',
  suggested: 'file',
  problem: (answer) =>
    (sinkTypes as readonly string[]).includes(answer)
      ? null
      : `write one of ${sinkTypes.join(', ')}; docs/sinks.md shows how others are written`,
};

/** A variable's name: not what is in it, which would stand in the file then. */
function variable(text: string, flag: string, suggested: string): Question {
  const problem = (answer: string): string | null =>
    /^[A-Z][A-Z0-9_]{1,63}$/.test(answer)
      ? null
      : `write the name of a variable, such as ${suggested}, and never the secret itself`;
  return { text, flag, suggested, problem };
}

function isText(answer: string): string | null {
  return answer.trim() === '' || /\p{Cc}/u.test(answer) ? 'write it on one line' : null;
}

/** Undefined: it is none of the three. */
function toPigeonholes(answer: string): PigeonholeAnswer | undefined {
  const words = answer.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 1 && words[0] === 'all') return 'all';
  if (words.length > 0 && words.every((word) => /^[1-9]\d{0,14}$/.test(word))) return { ids: words.map(Number) };
  const chosen = statuses.filter((status) => words.includes(status));
  return chosen.length > 0 && words.every((word) => (statuses as readonly string[]).includes(word))
    ? { statuses: chosen }
    : undefined;
}

interface AskingTerminal {
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
