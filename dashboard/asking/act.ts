import type { Action } from '../../operations/action.js';
import { post, refusalOf } from './ask.js';
import { askAgain } from './use-asked.js';
import type { ComponentChildren } from 'preact';
import { Store } from './page-state.js';

/**
 * Runs an action, shows a notice with its result, and reloads the page's data. Never throws. If the API refuses the
 * action, the notice shows the API's sentence.
 * @returns the answer; undefined if the action failed
 */
export async function carryOut<Answer>(
  work: () => Promise<Answer>,
  done: (answer: Answer) => string,
): Promise<Answer | undefined> {
  try {
    const answer = await work();
    tell('done', done(answer));
    return answer;
  } catch (error) {
    tell('failed', refusalOf(error, 'The action failed. Reload the page and try again.'));
    return undefined;
  } finally {
    askAgain();
  }
}

const doneWords: Readonly<Record<Action['do'], string>> = {
  pause: 'is paused',
  resume: 'continues',
  'try-now': 'is retried now',
  'poll-now': 'is being read',
  sweep: 'is being swept',
  approve: 'is approved and sends',
};

/**
 * Runs an action on a sink, a pigeonhole or a workspace. Pausing and approving are confirmed first. If there was nothing
 * to do, the notice shows the API's note.
 */
export async function act(action: Action): Promise<void> {
  const called = `${action.kind} ${action.name}`;
  let reason = '';
  if (action.do === 'pause') {
    const given = await askPerson({
      title: `Pause ${called}?`,
      body: 'It stops until you resume it, and then continues where it stopped.',
      confirm: 'Pause',
      field: { label: 'Reason', hint: 'Shown to other operators' },
    });
    if (given === null) return;
    reason = given;
  }
  if (action.do === 'approve') {
    const given = await askPerson({
      title: `Start sending to ${called}?`,
      body: 'So far, the sink has only counted changes. After you confirm, pigeonpost sends these changes and all later ones.',
      confirm: 'Start sending',
    });
    if (given === null) return;
  }
  await carryOut(
    () => post('/api/actions', { json: reason === '' ? action : { ...action, reason } }),
    ({ note }) => note ?? `${called} ${doneWords[action.do]}`,
  );
}

/** A confirmation before an action. */
interface Question {
  readonly title: string;
  readonly body: ComponentChildren;
  /** Label of the button that confirms. */
  readonly confirm: string;
  /** Set if the action cannot be undone on this page. */
  readonly grave?: boolean;
  /** Optional text field; absent: none. */
  readonly field?: { readonly label: string; readonly hint: string };
}

/** @internal for the dialog, which shows the question and answers it */
interface OpenQuestion extends Question {
  readonly answer: (given: string | null) => void;
}

export const openQuestion = new Store<OpenQuestion | null>(null);

/** @returns the text of the field, empty without a text or a field; null if the person cancels */
export async function askPerson(question: Question): Promise<string | null> {
  openQuestion.value?.answer(null);
  return await new Promise((resolve) => {
    openQuestion.set({
      ...question,
      answer: (given) => {
        openQuestion.set(null);
        resolve(given);
      },
    });
  });
}

/** Results of actions, shown at the edge of the page for some seconds. */
interface Notice {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

export const notices = new Store<readonly Notice[]>([]);

const shownForMs = { done: 6000, failed: 15_000 } as const;
let last = 0;

export function tell(kind: Notice['kind'], text: string): void {
  last += 1;
  const id = last;
  notices.set([...notices.value.slice(-3), { id, kind, text }]);
  setTimeout(() => dismiss(id), shownForMs[kind]);
}

export function dismiss(id: number): void {
  notices.set(notices.value.filter((notice) => notice.id !== id));
}
