import type { Action } from '../../operations/action.js';
import { ask, Problem } from './ask.js';
import { tell } from './notices.js';
import { askPerson } from './questions.js';
import { askAgain } from './use-asked.js';

/**
 * Runs an action, shows a notice with its result, and reloads the page's data. Never throws: a refusal is shown in the
 * API's words.
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
    tell('failed', error instanceof Problem ? error.message : 'The action failed. Reload the page and try again.');
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

/** Runs an action on a sink, a pigeonhole or a workspace. Pausing and approving are confirmed first. */
export async function act(action: Action): Promise<void> {
  const called = `${action.kind} ${action.name}`;
  let reason = '';
  if (action.do === 'pause') {
    const given = await askPerson({
      title: `Pause ${called}?`,
      body: 'It stops until you resume it. Changes found in the meantime are kept.',
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
    () => ask('/api/actions', { json: reason === '' ? action : { ...action, reason } }),
    () => `${called} ${doneWords[action.do]}`,
  );
}
