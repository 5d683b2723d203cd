import type { Action } from '../../operations/action.js';
import { ask, Problem } from './ask.js';
import { tell } from './notices.js';
import { askPerson } from './questions.js';
import { askAgain } from './use-asked.js';

/**
 * Does something, tells how it went, and has everything shown anew. Never throws: what the API refuses is told in its words.
 * @returns the answer; undefined where it failed
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
    tell('failed', error instanceof Problem ? error.message : 'it failed: reload the page and try again');
    return undefined;
  } finally {
    askAgain();
  }
}

const doneWords: Readonly<Record<Action['do'], string>> = {
  pause: 'is paused',
  resume: 'continues',
  'try-now': 'is tried now',
  'poll-now': 'is read now',
  sweep: 'is swept',
  approve: 'may send',
};

/** Asks where it should, then does it. */
export async function act(action: Action): Promise<void> {
  const called = `${action.kind} ${action.name}`;
  let reason = '';
  if (action.do === 'pause') {
    const given = await askPerson({
      title: `Pause ${called}?`,
      body: 'It stops until somebody resumes it. Nothing is lost: what is found or waits meanwhile is kept.',
      confirm: 'Pause',
      field: { label: 'Why', hint: 'Shown to whoever looks here next' },
    });
    if (given === null) return;
    reason = given;
  }
  if (action.do === 'approve') {
    const given = await askPerson({
      title: `Let ${called} send?`,
      body: 'It has observed so far. From now on it sends, beginning with what it has counted.',
      confirm: 'Let it send',
    });
    if (given === null) return;
  }
  await carryOut(
    () => ask('/api/actions', { json: reason === '' ? action : { ...action, reason } }),
    () => `${called} ${doneWords[action.do]}`,
  );
}
