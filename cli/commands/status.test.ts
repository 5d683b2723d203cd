import { span, type TextLine, widthOf } from '../text-line.js';
import { liveScreen } from './status.js';
import { momentOf, pigeonholeOf, sinkOf, troubleOf, workspaceOf } from '../status/status.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');
const head: TextLine[] = [[span('pigeonpost')], [span('page  http://127.0.0.1:8088/')]];
const events = (n: number, given: object = {}) =>
  workspaceOf({
    pigeonholes: Array.from({ length: n }, (_, i) => pigeonholeOf({ id: i + 1, name: `Event ${i + 1}`, ...given })),
  });

describe('a screen redrawn in place', () => {
  it.each([
    [80, 24],
    [140, 40],
    [40, 12],
    [20, 5],
  ])('fits into %d columns and %d rows, and keeps its head', (columns, rows) => {
    const moment = momentOf(
      { workspaces: [events(200)], sinks: Array.from({ length: 9 }, (_, i) => sinkOf({ name: `sink-${i}` })) },
      [troubleOf(), troubleOf({ name: 'other', severity: 'warning' })],
    );
    const lines = liveScreen(head, moment, now, { columns, rows, colours: false });
    expect(lines.length).toBeLessThan(rows);
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    expect(lines[0]).toBe('pigeonpost');
    expect(lines[1]).toMatch(/^page {2}http/);
  });

  it('shows events that need attention first, then live ones, and counts the others', () => {
    const failing = pigeonholeOf({ id: 901, name: 'Broken', status: 'ended', state: 'failing' });
    const live = pigeonholeOf({ id: 902, name: 'Now', status: 'live' });
    const workspace = events(100, { status: 'ended' });
    const pigeonholes = [...workspace.pigeonholes, live, failing];
    const lines = liveScreen(head, momentOf({ workspaces: [{ ...workspace, pigeonholes }] }), now, {
      columns: 80,
      rows: 16,
      colours: false,
    });
    expect(lines.join('\n')).toMatch(/Now \(902\)[^]*Broken \(901\)/);
    expect(lines.join('\n')).toMatch(/… and \d+ more events/);
  });

  it('omits advice and problems before it omits a sink', () => {
    const troubles = Array.from({ length: 9 }, (_, n) =>
      troubleOf({
        name: `s${n}`,
        text: `Sink s${n} accepts nothing: ${'it does not answer '.repeat(9)}`,
        advice: 'Look.',
      }),
    );
    const shown = (rows: number): string =>
      liveScreen(head, momentOf({}, troubles), now, { columns: 80, rows, colours: false }).join('\n');
    expect(shown(60)).toContain('Look.');
    expect(shown(24)).toMatch(/^PROBLEM {2}Sink s7[^]*hooks \(webhook\)/m);
    expect(shown(16)).toMatch(/^PROBLEM {2}Sink s0[^]*^… and \d more problems$[^]*hooks \(webhook\)/m);
  });

  it('shows the number of items by list below the events of their workspace', () => {
    const items = [{ workspace: 'acme', pigeonholeId: 101, list: 'votes', items: 1200 }];
    const lines = liveScreen(head, { ...momentOf(), items }, now, { columns: 80, rows: 24, colours: false });
    expect(lines.join('\n')).toMatch(/Annual Summit[^]*^ {2}items {2}1,200 votes$/m);
  });

  it('has colours if the terminal supports them', () => {
    const screen = { columns: 80, rows: 24 };
    expect(liveScreen(head, momentOf({}, [troubleOf()]), now, { ...screen, colours: true }).join('')).toContain(
      '\u001b[31mPROBLEM',
    );
    expect(liveScreen(head, momentOf({}, [troubleOf()]), now, { ...screen, colours: false }).join('')).not.toContain(
      '\u001b',
    );
  });
});
