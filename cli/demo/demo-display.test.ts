import { sinkOf, statusOf } from '../status/status.test-kit.js';
import { lineDisplay, formatDemoLine } from './demo-display.js';
import { viewOf } from './demo-view.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');

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
