import type { ImportView } from '../../importing/desk/import-views.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { followImport, pauseAfter } from './follow-import.js';
import { viewOf } from './import-views.test-kit.js';

/** Returns these answers, one for each poll. */
function answering(...answers: readonly (ImportView | CommandError)[]): { find: () => Promise<ImportView> } {
  const left = [...answers];
  return {
    find: async () => {
      const next = left.shift();
      if (next === undefined) throw new Error('nobody looks again');
      if (next instanceof CommandError) throw next;
      return next;
    },
  };
}

const never = new AbortController().signal;
const done = viewOf({ state: 'done' });
const unreachable = new CommandError(ExitCode.Unreachable, 'no pigeonpost answers');

describe('following an import', () => {
  it.each([
    [0, 500],
    [100, 500],
    [600, 1800],
  ])('looks again, after a look of %i ms, in %i ms', (tookMs, pauseMs) => expect(pauseAfter(tookMs)).toBe(pauseMs));

  it('shows each state until the end, and waits during a restart', async () => {
    const seen: string[] = [];
    const display = (view: ImportView): void => void seen.push(view.state);
    const client = answering(viewOf({ state: 'waiting' }), unreachable, done);
    expect(await followImport(client, viewOf(), { display, stop: never })).toEqual({ kind: 'ended', view: done });
    expect(seen).toEqual(['running', 'waiting', 'waiting', 'done']);
  });

  it('shows a pause, which has no end time', async () => {
    const paused = viewOf({ state: 'paused' });
    const followed = await followImport(answering(paused), viewOf(), { display: () => undefined, stop: never });
    expect(followed).toEqual({ kind: 'paused', view: paused });
  });

  it('stops immediately on request, without stopping the import', async () => {
    const stop = new AbortController();
    const followed = followImport(answering(), viewOf(), { display: () => stop.abort(), stop: stop.signal });
    expect(await followed).toMatchObject({ kind: 'stopped' });
  });

  it('ends with a refusal of the API', async () => {
    const gone = new CommandError(ExitCode.NotFound, 'no import 7 is known');
    const followed = followImport(answering(gone), viewOf(), { display: () => undefined, stop: never });
    await expect(followed).rejects.toBe(gone);
  });
});
