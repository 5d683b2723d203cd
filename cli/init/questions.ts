import { createInterface } from 'node:readline/promises';
import type { Output } from '../output.js';
import { wrongUse } from '../exit-code.js';
import {
  type InitAnswers,
  initSinks,
  type InitSinkType,
  type PigeonholeAnswer,
  type SinkAnswer,
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
  /** For an existing file: the sync that delivers to the added sink. */
  readonly sync?: string | undefined;
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
 * Tries an answer against the service or the destination as soon as it is given. Each function returns a sentence with
 * the problem, or null if there is none or if the answer cannot be tried yet.
 */
export interface Trials {
  service(service: string): Promise<string | null>;
  /** Lists the events of the workspace. @returns their IDs; null if they are unknown */
  events(found: EventsAnswer): Promise<{ readonly problem: string } | readonly number[] | null>;
  sink(sink: SinkAnswer): Promise<string | null>;
}

/** The answers with which the service can be asked for its events. */
export interface EventsAnswer {
  readonly service: string;
  readonly keyVariable: string;
}

/** Asks questions, and how to show and try what was answered. */
export interface Dialog {
  readonly ask: Asker;
  readonly note: (text: string) => void;
  /** Null: answers are not tried, because nobody could correct them. */
  readonly trials: Trials | null;
}

/** Asks the questions of `init` in an order in which each one makes sense, and tries each answer. */
export async function askAll(flags: InitFlags, dialog: Dialog): Promise<InitAnswers> {
  const { ask, trials } = dialog;
  const service = await askUntilTried(
    dialog,
    flags,
    async (given) => (await ask(serviceQuestion, given.service)).replace(/\/+$/, '').replace(/\/v2$/, ''),
    async (answer) => (await trials?.service(answer)) ?? null,
  );
  let ids: readonly number[] | null = null;
  const keyVariable = await askUntilTried(
    dialog,
    flags,
    async (given) =>
      await ask(
        variable('Environment variable with the API key', '--key-variable', 'ENGAGEMENT_API_KEY'),
        given.keyVariable,
      ),
    async (answer) => {
      if (flags.pigeonholes !== undefined) return null;
      const found = (await trials?.events({ service, keyVariable: answer })) ?? null;
      if (found !== null && 'problem' in found) return found.problem;
      ids = found;
      return null;
    },
  );
  const pigeonholes = toPigeonholes(await ask(pigeonholesQuestion(ids), flags.pigeonholes)) as PigeonholeAnswer;
  return { service, keyVariable, pigeonholes, sink: await askSink(flags, dialog, sinkQuestion('First sink')) };
}

/** Asks for a sink that is added to an existing file. */
export async function askForSink(flags: InitFlags, dialog: Dialog): Promise<SinkAnswer> {
  return await askSink(flags, dialog, sinkQuestion('Sink to add'));
}

async function askSink(flags: InitFlags, dialog: Dialog, question: Question): Promise<SinkAnswer> {
  const { ask, trials } = dialog;
  const type = (await ask(question, flags.sink)) as InitSinkType;
  const { destination, secret } = initSinks[type];
  return await askUntilTried(
    dialog,
    flags,
    async (given) => ({
      type,
      destination:
        destination === null
          ? ''
          : await ask(
              { text: destination.question, flag: '--destination', suggested: destination.suggested, problem: isText },
              given.destination,
            ),
      secretVariable:
        secret === null
          ? ''
          : await ask(variable(secret.question, '--secret-variable', secret.suggested), given.secretVariable),
    }),
    async (sink) => (await trials?.sink(sink)) ?? null,
  );
}

/**
 * Asks until the answer passes its trial, or until the operator keeps it: the other side may be down just now. An
 * option is used only for the first answer.
 */
async function askUntilTried<Answer>(
  { ask, note }: Dialog,
  flags: InitFlags,
  question: (given: InitFlags) => Promise<Answer>,
  trial: (answer: Answer) => Promise<string | null>,
): Promise<Answer> {
  for (let given = flags; ; given = {}) {
    const answer = await question(given);
    const problem = await trial(answer);
    if (problem === null) return answer;
    note(`  ${problem}`);
    if ((await ask(keepQuestion, undefined)) === 'yes') return answer;
  }
}

const keepQuestion: Question = {
  text: 'Keep this answer anyway: yes, no',
  flag: '--yes',
  suggested: 'no',
  problem: (answer) => (/^(?:yes|no)$/.test(answer) ? null : 'enter yes or no'),
};

/** @param syncs names of the syncs of the file */
export function syncQuestion(syncs: readonly string[]): Question {
  return {
    text: `Sync that delivers to it: ${syncs.join(', ')}`,
    flag: '--sync',
    suggested: syncs[0] ?? null,
    problem: (answer) => (syncs.includes(answer) ? null : `enter one of ${syncs.join(', ')}`),
  };
}

/** @param file the existing file */
export function addQuestion(file: string): Question {
  return { ...keepQuestion, text: `${file} exists. Add a sink to it: yes, no`, flag: '--add', suggested: 'yes' };
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

function sinkQuestion(subject: string): Question {
  return {
    text: `${subject}: ${sinkTypes.join(', ')}`,
    flag: '--sink',
    suggested: 'file',
    problem: (answer) =>
      (sinkTypes as readonly string[]).includes(answer)
        ? null
        : `enter one of ${sinkTypes.join(', ')}; docs/sinks.md describes the other types`,
  };
}

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
