import { sinkOf, statusOf, workspaceOf } from '../status/status.test-kit.js';
import { formatDemoBlock, lineDisplay, formatDemoLine } from './demo-screen.js';
import type { Screen } from '../commands/status.js';
import { viewOf } from './demo-view.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');
const screen = (columns: number, rows = 60): Screen => ({ columns, rows, colours: false });

const manySinks = viewOf({
  note: 'building the Temporal server with Go, once: 240 s so far, about 8 minutes in all',
  status: statusOf({
    workspaces: [
      workspaceOf({ state: 'failing', reason: 'the service answers 5000 to every request of the list questions' }),
    ],
    sinks: Array.from({ length: 12 }, (_, n) =>
      sinkOf({
        name: `a-sink-with-a-name-that-goes-on-and-on-${n}`,
        delivered: 123_456_789,
        backlog: 9_876_543,
        state: 'paused',
        reason: 'nothing answers at the address that was configured, for several hours by now',
        withheld: { 'consent-refused': 12_345, 'consent-not-asked': 23_456, 'consent-not-known': 34_567 },
        dead: { 'attempts-exhausted': 99 },
      }),
    ),
  }),
  places: [
    { label: 'messages', place: 'http://127.0.0.1:40001', holds: 'a great many questions, and as many threads again' },
    { label: 'files', place: `/a/folder/${'that/lies/very/deep/'.repeat(9)}archive`, holds: '' },
  ],
});

describe('the block of the demo', () => {
  it.each([1, 12, 20, 40, 79, 80, 120, 300])('has no line wider than %d columns, whatever its content', (columns) => {
    for (const view of [viewOf(), manySinks, viewOf({ source: null, status: null, note: 'starting' })]) {
      for (const line of formatDemoBlock(view, now, screen(columns))) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  it.each([2, 5, 10, 24, 50])('fits a terminal of %d rows, with one left for the cursor', (rows) => {
    for (const columns of [40, 80, 120]) {
      for (const view of [viewOf(), manySinks]) {
        expect(formatDemoBlock(view, now, screen(columns, rows)).length).toBeLessThan(rows);
      }
    }
  });

  it.each([40, 60])('shows the whole link to the page on %d columns, and still fits', (columns) => {
    const place = `http://127.0.0.1:40000/?code=ppc_${'x'.repeat(40)}`;
    const view = viewOf({ places: [{ label: 'page', place, holds: '' }] });
    const lines = formatDemoBlock(view, now, screen(columns, 24));
    expect(lines).toContain(`page    ${place}`);
    expect(lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / columns)), 0)).toBeLessThan(24);
  });

  it('shows everything on 80 by 24', () => {
    expect(formatDemoBlock(viewOf(), now, screen(80, 24))).toEqual([
      'pigeonpost demo  2 min, Ctrl-C ends it',
      '',
      'source  3 pigeonholes, 3,000 people, 3,000 questions, 12,345 live events so far',
      'read    up to date, live lists read 3 s ago',
      '',
      'list             source  ledger   list             source  ledger',
      'pigeonholes           3       0   answer_ratings    3,000   2,999',
      'subscriptions         2       0   answers           3,000   2,999',
      'sessions          3,000   2,999   poll-mcq-votes    3,000   2,999',
      'attendees         3,000   2,999   poll-quiz-votes   3,000   2,999',
      'questions         3,000   2,999   qna-questions     3,000   2,999',
      'votes             3,000   2,999',
      '',
      'sink            delivered  withheld   backlog        last',
      'hooks (webhook)     1,200         0         0     2 s ago',
      '',
      'messages http://127.0.0.1:40001  128 questions in 4 threads, 3 withdrawn',
      'files    ./demo-data',
    ]);
  });

  it('fits four sinks with withheld changes, and four addresses, on 80 by 24', () => {
    const sinks = ['archive', 'hooks', 'crm', 'questions'].map((name) =>
      sinkOf({ name, withheld: { 'consent-not-asked': 55, 'consent-not-known': 55, 'consent-refused': 110 } }),
    );
    const places = ['messages', 'contacts', 'files', 'status'].map((label) => ({
      label,
      place: 'http://127.0.0.1:40001',
      holds: '',
    }));
    const { counts } = viewOf().status!;
    const lines = formatDemoBlock(
      viewOf({ status: statusOf({ sinks, counts: counts! }), places }),
      now,
      screen(80, 24),
    );
    expect(lines.filter((line) => line.startsWith('  withheld: '))).toHaveLength(4);
    expect(lines.filter((line) => line.includes('http:'))).toHaveLength(4);
    expect(lines.join('\n')).not.toContain('enlarge');
  });

  it('shows lists in one column on a width of 40, and in three on 120', () => {
    const rowsOfLists = (columns: number): number =>
      formatDemoBlock(viewOf(), now, screen(columns)).filter(
        (line) => /\d+ +\d+/.test(line) && !/hooks|http/.test(line),
      ).length;
    expect([rowsOfLists(40), rowsOfLists(80), rowsOfLists(120)]).toEqual([11, 6, 4]);
  });

  it('omits lists before sinks on a low terminal', () => {
    const lines = formatDemoBlock(viewOf(), now, screen(40, 18));
    expect(lines).toContain('… enlarge the window for more');
    expect(lines.some((line) => line.startsWith('hooks'))).toBe(true);
    expect(lines.at(-1)).toMatch(/^files /);
  });

  it('keeps the end of a long path', () => {
    expect(formatDemoBlock(manySinks, now, screen(40, 200)).at(-1)).toMatch(/^files +….*\/archive$/);
  });

  it('shows the step in progress before anything runs', () => {
    const lines = formatDemoBlock(viewOf({ note: 'starting pigeonpost', source: null, status: null }), now, screen(80));
    expect(lines.slice(0, 2)).toEqual(['pigeonpost demo  2 min, Ctrl-C ends it', 'starting pigeonpost']);
  });

  it('shows why a workspace waits and when it continues', () => {
    const waiting = workspaceOf({
      state: 'waiting',
      reason: 'throttled',
      until: '2026-11-21T09:30:20.000Z',
      pigeonholes: [],
    });
    const lines = formatDemoBlock(viewOf({ status: statusOf({ workspaces: [waiting] }) }), now, screen(80));
    expect(lines).toContain('read    waiting: throttled, continues in 20 s');
  });

  it('contains escape sequences only for colours', () => {
    const plain = formatDemoBlock(manySinks, now, screen(80));
    const coloured = formatDemoBlock(manySinks, now, { ...screen(80), colours: true });
    expect(plain.join('')).not.toContain('\u001b');
    expect(coloured.join('')).toContain('\u001b[31m');
    expect(coloured.map((line) => line.replaceAll(/\u001b\[\d+m/g, '').trimEnd())).toEqual(plain);
  });

  it('escapes control characters in texts of a sink', () => {
    const view = viewOf({
      status: statusOf({ sinks: [sinkOf({ state: 'failing', reason: 'no\u001b[2Jthing\nanswers' })] }),
    });
    expect(formatDemoBlock(view, now, screen(80))).toContain('  failing: no [2Jthing answers');
  });
});

describe('the demo as a log line', () => {
  it('shows the number of items in the ledger and the state of each sink', () => {
    const paused = sinkOf({
      name: 'archive',
      state: 'paused',
      reason: 'disk full',
      withheld: { 'consent-refused': 3 },
      backlog: 4,
    });
    expect(formatDemoLine(viewOf({ status: statusOf({ sinks: [sinkOf(), paused] }) }), now)).toBe(
      '09:30:00 0 items in the ledger, live read 3 s ago | hooks: 1,200 delivered, 0 withheld, backlog 0' +
        ' | archive: 1,200 delivered, 3 withheld, backlog 4, paused: disk full',
    );
  });

  it('shows the step in progress while nothing runs', () => {
    expect(formatDemoLine(viewOf({ status: null, note: 'building the Temporal server' }), now)).toBe(
      '09:30:00 building the Temporal server',
    );
  });
});

describe('a display without a terminal', () => {
  it('prints a line every five seconds, and a new step immediately', () => {
    let atMs = 0;
    const lines: string[] = [];
    const display = lineDisplay(
      (line) => lines.push(line),
      () => atMs,
    );
    const show = (seconds: number, note: string): void => {
      atMs = seconds * 1000;
      display(viewOf({ status: null, note, places: [] }));
    };
    show(0, 'one');
    show(1, 'one');
    show(2, 'two');
    show(6, 'two');
    show(7, 'two');
    expect(lines).toEqual(['00:00:00 one', '00:00:02 two', '00:00:07 two']);
  });

  it('prints each address as soon as it is known', () => {
    const lines: string[] = [];
    const display = lineDisplay(
      (line) => lines.push(line),
      () => 0,
    );
    const messages = { label: 'messages', place: 'http://127.0.0.1:40001', holds: '' };
    const contacts = { label: 'contacts', place: 'http://127.0.0.1:40002', holds: '' };
    for (const places of [[], [messages], [messages, contacts]]) display(viewOf({ status: null, places }));
    expect(lines.filter((line) => line.startsWith('see'))).toEqual([
      'see the messages: http://127.0.0.1:40001',
      'see the contacts: http://127.0.0.1:40002',
    ]);
  });
});
