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
  it('shows the step in progress and its duration during the start', () => {
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

  it('keeps the address of the page at the top once it is known', () => {
    expect(shown({ phase: 'running', page: 'http://127.0.0.1:8088/?code=ppc_x', note: 'not up to date' })).toEqual([
      'pigeonpost is ready, up for 90 s; press Ctrl-C to stop it',
      'page  http://127.0.0.1:8088/?code=ppc_x',
      'log   ./pigeonpost.log',
      'not up to date',
    ]);
  });

  it('shows, while it stops, what it waits for and what a second Ctrl-C does', () => {
    const steps = [{ text: 'ending the worker: up to 7 s for 2 reads and deliveries in progress', sinceMs: 88_000 }];
    expect(shown({ phase: 'stopping', steps })).toEqual([
      'pigeonpost is stopping; press Ctrl-C again to end it now, without data loss',
      'log   ./pigeonpost.log',
      '',
      '> ending the worker: up to 7 s for 2 reads and deliveries in progress (2 s so',
      '  far)',
    ]);
    expect(shown({ phase: 'stopped', steps })[0]).toBe('pigeonpost has stopped after 90 s');
  });
});

describe('a step that differs only in its numbers', () => {
  it('replaces the previous one and keeps its start time', () => {
    const first = withStep([], { text: 'building: 10 s so far', sinceMs: 5 });
    expect(withStep(first, { text: 'building: 20 s so far', sinceMs: 9 })).toEqual([
      { text: 'building: 20 s so far', sinceMs: 5 },
    ]);
    expect(withStep(first, { text: 'starting', sinceMs: 9 })).toHaveLength(2);
  });
});
