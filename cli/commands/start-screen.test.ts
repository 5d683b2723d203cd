import { renderLine } from '../text-line.js';
import { withStep, startHead, type StartState } from './start-screen.js';

function shown(given: Partial<StartState>, columns = 80): string[] {
  const state: StartState = {
    startedMs: 0,
    phase: 'starting',
    steps: [],
    page: null,
    log: './pigeonpost.log',
    note: null,
    ...given,
  };
  return startHead(state, 90_000, columns).map((line) => renderLine(line, { columns, colours: false }));
}

describe('the head of the screen of start', () => {
  it('names in the first minute what is in progress, and how long it takes', () => {
    const steps = [
      { text: 'creating the ledger in /data', sinceMs: 1000 },
      { text: 'starting the Temporal server', sinceMs: 60_000 },
    ];
    expect(shown({ steps })).toEqual([
      'pigeonpost is starting, 90 s so far; Ctrl-C stops it',
      'log   ./pigeonpost.log',
      '',
      '  creating the ledger in /data (59 s)',
      '> starting the Temporal server (30 s so far)',
    ]);
  });

  it('keeps the address of the page on top once there is one', () => {
    expect(shown({ phase: 'running', page: 'http://127.0.0.1:8088/?code=ppc_x', note: 'not up to date' })).toEqual([
      'pigeonpost is ready and has run for 90 s; Ctrl-C stops it',
      'page  http://127.0.0.1:8088/?code=ppc_x',
      'log   ./pigeonpost.log',
      'not up to date',
    ]);
  });

  it('says while it stops what it waits for, and what a second Ctrl-C does', () => {
    const steps = [{ text: 'ending the worker: up to 7 s for 2 reads and deliveries in progress', sinceMs: 88_000 }];
    expect(shown({ phase: 'stopping', steps })).toEqual([
      'pigeonpost is stopping; Ctrl-C again ends it immediately, and nothing is lost',
      'log   ./pigeonpost.log',
      '',
      '> ending the worker: up to 7 s for 2 reads and deliveries in progress (2 s so',
      '  far)',
    ]);
    expect(shown({ phase: 'stopped', steps })[0]).toBe('pigeonpost has stopped after 90 s');
  });
});

describe('a step that only counts on', () => {
  it('takes the place of the one before and keeps its beginning', () => {
    const first = withStep([], { text: 'building: 10 s so far', sinceMs: 5 });
    expect(withStep(first, { text: 'building: 20 s so far', sinceMs: 9 })).toEqual([
      { text: 'building: 20 s so far', sinceMs: 5 },
    ]);
    expect(withStep(first, { text: 'starting', sinceMs: 9 })).toHaveLength(2);
  });
});
