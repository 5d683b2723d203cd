import { createInterface } from 'node:readline/promises';
import type { Output } from '../output.js';
import { wrongUse } from '../exit-code.js';
import {
  type InitAnswers,
  initSinks,
  type InitSinkType,
  type PigeonholeAnswer,
  sinkTypes,
  statuses,
} from './write-configuration.js';

/** Answers given as options; `init` asks for the others. */
export interface InitFlags {
  readonly service?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly pigeonholes?: string | undefined;
  readonly sink?: string | undefined;
  readonly destination?: string | undefined;
  readonly secretVariable?: string | undefined;
}

/** A value that `init` needs: asked at a terminal, or given as an option. */
interface Question {
  readonly text: string;
  readonly flag: string;
  /** Default answer; null if there is none. */
  readonly suggested: string | null;
  /** Returns why an answer is invalid; null if it is valid. Never contains the answer, which may be a secret. */
  readonly problem: (answer: string) => string | null;
}

/** Returns a valid answer to a question. @throws if there is none */
type Asker = (question: Question, given: string | undefined) => Promise<string>;

/**
 * Asks the questions of `init` in an order in which each one makes sense.
 * @param showEvents lists the events of the workspace once the key's variable is known; null if they cannot be listed
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
  const { destination, secret } = initSinks[type];
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
      : 'enter an address such as https://api.example.com',
};

/** @param ids IDs of the events shown; null if none were shown, so that every ID is accepted */
function pigeonholesQuestion(ids: readonly number[] | null): Question {
  return {
    text: 'Pigeonholes to read: all, IDs, or statuses',
    flag: '--pigeonholes',
    suggested: 'new,upcoming,live',
    problem: (answer) => {
      const chosen = toPigeonholes(answer);
      if (chosen === undefined) return `enter "all", IDs such as 101,102, or statuses: ${statuses.join(', ')}`;
      const unknown =
        chosen === 'all' || !('ids' in chosen) || ids === null ? [] : chosen.ids.filter((id) => !ids.includes(id));
      return unknown.length === 0 ? null : `${unknown.join(', ')} is not in the list above`;
    },
  };
}

const sinkQuestion: Question = {
  text: `First sink: ${sinkTypes.join(', ')}`,
  flag: '--sink',
  suggested: 'file',
  problem: (answer) =>
    (sinkTypes as readonly string[]).includes(answer)
      ? null
      : `enter one of ${sinkTypes.join(', ')}; docs/sinks.md describes the other types`,
};

/**
 * Returns a question for the name of a variable. The answer must be a name, so that no secret is written into the file.
 */
function variable(text: string, flag: string, suggested: string): Question {
  const problem = (answer: string): string | null =>
    /^[A-Z][A-Z0-9_]{1,63}$/.test(answer)
      ? null
      : `enter the name of a variable, such as ${suggested}, not the secret itself`;
  return { text, flag, suggested, problem };
}

function isText(answer: string): string | null {
  return answer.trim() === '' || /\p{Cc}/u.test(answer) ? 'enter a single line' : null;
}

/** Parses the selection of pigeonholes; undefined if it is invalid. */
function toPigeonholes(answer: string): PigeonholeAnswer | undefined {
  const words = answer.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 1 && words[0] === 'all') return 'all';
  if (words.length > 0 && words.every((word) => /^[1-9]\d{0,14}$/.test(word))) return { ids: words.map(Number) };
  const chosen = statuses.filter((status) => words.includes(status));
  return chosen.length > 0 && words.every((word) => (statuses as readonly string[]).includes(word))
    ? { statuses: chosen }
    : undefined;
}

/**
 * Takes the answer from the options, or asks at the terminal until the answer is valid. Without a terminal, or with
 * `interactive: false`, uses the default.
 * @param options.interactive whether to ask questions
 */
export function askAtTerminal(out: Output, { interactive }: { interactive: boolean }) {
  const lines = interactive ? createInterface({ input: process.stdin, output: process.stderr }) : undefined;
  return { ask: asker(out, lines && ((text) => lines.question(text))), close: () => lines?.close() };
}

/** @param question prints a text and returns the line that follows; undefined without a terminal */
export function asker(out: Pick<Output, 'note'>, question: ((text: string) => Promise<string>) | undefined): Asker {
  return async ({ text, flag, suggested, problem }, given) => {
    if (given !== undefined || question === undefined) {
      const answer = given ?? suggested;
      if (answer === null) throw wrongUse(`${flag} is needed: ${lowered(text)}`);
      const wrong = problem(answer);
      if (wrong !== null) throw wrongUse(`${flag}: ${wrong}`);
      return answer;
    }
    for (;;) {
      const answer = (await question(`${text}${suggested === null ? '' : ` [${suggested}]`}: `)).trim();
      const meant = answer === '' ? suggested : answer;
      const wrong = meant === null ? 'an answer is required' : problem(meant);
      if (wrong === null) return meant!;
      out.note(`  ${wrong}`);
    }
  };
}

function lowered(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
