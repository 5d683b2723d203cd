import type { NamedImport } from '../../api/imports.js';
import { CommandError, ExitCode } from '../exit-code.js';
import type { Output } from '../output.js';
import { createProgressDisplay, createUploadDisplay, followImport, Pace, pauseAfter } from './follow-import.js';
import { countsOf, viewOf } from './import-views.test-kit.js';

/** Returns these answers, one for each poll. */
function answering(...answers: readonly (NamedImport | CommandError)[]): { find: () => Promise<NamedImport> } {
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
  ])('polls again after a request of %i ms in %i ms', (tookMs, pauseMs) => expect(pauseAfter(tookMs)).toBe(pauseMs));

  it('shows each state until the end, and continues during a restart', async () => {
    const seen: string[] = [];
    const display = (view: Pick<NamedImport, 'state'>): void => void seen.push(view.state);
    const client = answering(viewOf({ state: 'waiting' }), unreachable, done);
    expect(await followImport(client, viewOf(), { display, stop: never })).toEqual({ kind: 'ended', view: done });
    expect(seen).toEqual(['running', 'waiting', 'waiting', 'done']);
  });

  it('ends with a line for all rows where there is no terminal', async () => {
    const notes: string[] = [];
    const out = { terminal: false, note: (text: string) => void notes.push(text) } as unknown as Output;
    const last = viewOf({ state: 'done', counts: countsOf({ created: 20_000 }) });
    await followImport(answering(last), viewOf(), { display: createProgressDisplay(out, false), stop: never });
    expect(notes).toEqual(['12,500 of 20,000 rows', expect.stringContaining('20,000 of 20,000 rows')]);
  });

  it('ends at a pause, which has no end time', async () => {
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

describe('the rate of an import', () => {
  it('is known after a second with progress', () => {
    const pace = new Pace();
    expect(pace.note(0, 0)).toBeNull();
    expect(pace.note(500, 500)).toBeNull();
    expect(pace.note(1000, 2000)).toBe(500);
  });

  it('covers the last 30 s', () => {
    const pace = new Pace();
    pace.note(0, 0);
    for (let s = 1; s <= 60; s += 1) pace.note(100 * s, 1000 * s);
    for (let s = 61; s <= 91; s += 1) pace.note(6000 + 10 * (s - 60), 1000 * s);
    expect(pace.note(6320, 92_000)).toBe(10);
  });

  it('starts again after a wait', () => {
    const pace = new Pace();
    pace.note(0, 0);
    pace.forget();
    expect(pace.note(1000, 3_600_000)).toBeNull();
    expect(pace.note(3000, 3_602_000)).toBe(1000);
  });
});

describe('the progress of reading a file', () => {
  it('is redrawn in place five times a second, cut at the edge, and removed', () => {
    const drawn: string[] = [];
    let nowMs = 0;
    const out = { draw: (text: string) => void drawn.push(text), columns: 24 };
    const display = createUploadDisplay(out, { doing: 'checking p.csv', fileBytes: 1000, now: () => nowMs });
    for (const bytes of [10, 20, 500, 1000]) {
      display.onSent(bytes);
      nowMs += 150;
    }
    display.end();
    expect(drawn).toEqual(['\rchecking p.csv: 1 %\u001b[K', '\rchecking p.csv: 50 %\u001b[K', '\r\u001b[K']);
    expect(
      createUploadDisplay({ ...out, columns: 10 }, { doing: 'checking p.csv', fileBytes: 0, now: () => 0 }).onSent(0),
    ).toBeUndefined();
    expect(drawn.at(-1)!.replace('\r', '').replace('\u001b[K', '').length).toBeLessThanOrEqual(10);
  });

  it('is not drawn before anything was sent', () => {
    const draw = jest.fn();
    createUploadDisplay({ draw, columns: 80 }, { doing: 'x', fileBytes: 1, now: () => 0 }).end();
    expect(draw).not.toHaveBeenCalled();
  });
});
