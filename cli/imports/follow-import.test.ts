import type { ImportView } from '../../importing/desk/import-views.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { followImport, pauseAfter } from './follow-import.js';
import { viewOf } from './import-views.test-kit.js';

/** Gives these answers, one a look. */
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

describe('whoever follows an import', () => {
  it.each([
    [0, 500],
    [100, 500],
    [600, 1800],
  ])('looks again, after a look of %i ms, in %i ms', (tookMs, pauseMs) => expect(pauseAfter(tookMs)).toBe(pauseMs));

  it('sees each standing until it has ended, and a restart in between is waited for', async () => {
    const seen: string[] = [];
    const display = (view: ImportView): void => void seen.push(view.state);
    const client = answering(viewOf({ state: 'waiting' }), unreachable, done);
    expect(await followImport(client, viewOf(), { display, stop: never })).toEqual({ kind: 'ended', view: done });
    expect(seen).toEqual(['running', 'waiting', 'waiting', 'done']);
  });

  it('is told of a pause, which no time ends', async () => {
    const paused = viewOf({ state: 'paused' });
    const followed = await followImport(answering(paused), viewOf(), { display: () => undefined, stop: never });
    expect(followed).toEqual({ kind: 'paused', view: paused });
  });

  it('goes at once when told to, and the import does not', async () => {
    const stop = new AbortController();
    const followed = followImport(answering(), viewOf(), { display: () => stop.abort(), stop: stop.signal });
    expect(await followed).toMatchObject({ kind: 'stopped' });
  });

  it('is not kept from a refusal', async () => {
    const gone = new CommandError(ExitCode.NotFound, 'no import 7 is known');
    const followed = followImport(answering(gone), viewOf(), { display: () => undefined, stop: never });
    await expect(followed).rejects.toBe(gone);
  });
});
