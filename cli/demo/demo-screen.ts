import type { Status } from '../../operations/status-view.js';
import { untilSentence } from '../../base/reading-words.js';
import { counted, formatSpan, grouped, formatDistance, sumOf } from '../../base/words.js';
import type { Screen } from '../commands/status.js';
import { separated } from '../status/format-status.js';
import { sinkLines } from '../status/sink-lines.js';
import { sourceCounts, type SandboxState } from './stand-in-state.js';
import { extraRows, renderLine, span, wholeSpan, type TextLine, keepEnd, wrapFacts, wrapLines } from '../text-line.js';
import { type Output, LiveBlock } from '../output.js';

const labelWidth = 8;
const gap = 3;

/** Returns the demo's block, cut to the size of the terminal. Pure. */
export function formatDemoBlock(view: DemoView, now: Date, screen: Screen): string[] {
  const { columns } = screen;
  const lists = groupLists(
    listLines(view.source === null ? new Map() : sourceCounts(view.source), view.status),
    columns,
  );
  const sections: TextLine[][] = [
    [
      [span('pigeonpost demo', 'bold'), span(`  ${formatSpan(view.runningForMs / 1000)}, Ctrl-C ends it`, 'dim')],
      ...(view.note === null ? [] : wrapLines(view.note, 'yellow', { columns })),
    ],
    [...sourceLines(view, columns), ...(view.status === null ? [] : readLines(view.status, now, columns))],
    lists,
    view.status === null ? [] : sinkLines(view.status.sinks, { now, columns, says: 'reason' }),
    placeLines(view.places, columns),
  ];
  return fitRows(sections, screen.rows - 1 - extraRows(sections.flat(), columns)).map((line) =>
    renderLine(line, screen),
  );
}

function sourceLines({ source }: DemoView, columns: number): TextLine[] {
  if (source === null) return [];
  const counts = sourceCounts(source);
  const n = (list: string): string => grouped(counts.get(list) ?? 0);
  const facts = [
    `${n('pigeonholes')} pigeonholes`,
    `${n('attendees')} people`,
    `${n('questions')} questions`,
    `${counted(source.emitted, 'live event')} so far`,
  ];
  return wrapFacts('source'.padEnd(labelWidth), facts, columns);
}

function readLines(status: Status, now: Date, columns: number): TextLine[] {
  const fresh = liveFreshness(status);
  const states = status.workspaces.map((workspace) => {
    const { state, reason } = workspace;
    if (state === 'working') return fresh === null ? 'first read in progress' : 'up to date';
    const next = untilSentence(workspace, now);
    return `${state}${reason === null ? '' : `: ${reason}`}${next === null ? '' : `, ${next}`}`;
  });
  const facts = [...states, ...(fresh === null ? [] : [`live lists read ${formatDistance(fresh, now)}`])];
  return wrapFacts('read'.padEnd(labelWidth), facts, columns);
}

/** Formats the lists in as many columns as fit, ordered from top to bottom. */
function groupLists(lists: readonly ListLine[], columns: number): TextLine[] {
  if (lists.length === 0) return [];
  const widest = Math.max(...lists.map(({ list }) => list.length));
  const numbers = 8;
  const nameWidth = Math.max(4, Math.min(widest, columns - 2 * numbers));
  const groupWidth = nameWidth + 2 * numbers;
  const groups = Math.max(1, Math.min(3, Math.floor((columns + gap) / (groupWidth + gap))));
  const height = Math.ceil(lists.length / groups);
  const title = ['list'.padEnd(nameWidth), 'source'.padStart(numbers), 'ledger'.padStart(numbers)].join('');
  const used = Math.ceil(lists.length / height);
  const head = [span(Array.from({ length: used }, () => title).join(' '.repeat(gap)), 'dim')];
  const rows = Array.from({ length: height }, (_, row) =>
    Array.from({ length: used }, (_unused, group) => lists[group * height + row])
      .filter((line) => line !== undefined)
      .flatMap((line, group) => [
        ...(group === 0 ? [] : [span(' '.repeat(gap))]),
        ...listCells(line, nameWidth, numbers),
      ]),
  );
  return [head, ...rows];
}

function listCells({ list, source, ledger }: ListLine, nameWidth: number, numberWidth: number): TextLine {
  const name = list.length > nameWidth ? `${list.slice(0, nameWidth - 1)}…` : list.padEnd(nameWidth);
  const behind = source !== null && ledger < source;
  return [
    span(name),
    span((source === null ? '' : grouped(source)).padStart(numberWidth), 'dim'),
    span(grouped(ledger).padStart(numberWidth), behind ? 'yellow' : 'green'),
  ];
}

/** Formats the addresses, with a summary of their content if there is room. */
function placeLines(places: DemoView['places'], columns: number): TextLine[] {
  const width = Math.max(labelWidth, ...places.map(({ label }) => label.length + 1));
  const placeWidth = Math.max(0, ...places.filter(({ holds }) => holds !== '').map(({ place }) => place.length));
  return places.map(({ label, place, holds }) => [
    span(label.padEnd(width), 'dim'),
    label === 'page' ? wholeSpan(place) : span(keepEnd(place, columns - width)),
    ...(holds === '' ? [] : [span(' '.repeat(Math.max(0, placeWidth - place.length))), span(`  ${holds}`, 'dim')]),
  ]);
}

/**
 * Joins sections with empty lines. A block that is higher than the terminal cannot be redrawn in place, so if there is
 * too little room, it omits first the empty lines, then lines of the lists, then the end.
 */
function fitRows(sections: readonly TextLine[][], rows: number): TextLine[] {
  const full = sections.filter((section) => section.length > 0);
  const airy = separated(full);
  if (airy.length <= rows) return airy;
  const dense = full.flat();
  const missing = dense.length - rows;
  const lists = sections[2] ?? [];
  const kept = Math.max(1, lists.length - missing - 1);
  if (missing <= 0 || lists.length === 0) return dense.slice(0, Math.max(1, rows));
  const shortened =
    kept < lists.length ? [...lists.slice(0, kept), [span('… enlarge the window for more', 'dim')]] : lists;
  return full.flatMap((section) => (section === lists ? shortened : section)).slice(0, Math.max(1, rows));
}

/** Data on the screen of the demo. */
export interface DemoView {
  /** The step in progress; null while everything runs. */
  readonly note: string | null;
  readonly runningForMs: number;
  readonly source: SandboxState | null;
  readonly status: Status | null;
  /** Addresses and paths to show. */
  readonly places: readonly DemoAddress[];
}

interface DemoAddress {
  readonly label: string;
  readonly place: string;
  /** A short summary of the content; may be empty. */
  readonly holds: string;
}

interface ListLine {
  readonly list: string;
  readonly source: number | null;
  readonly ledger: number;
}

/** Returns the number of items by list in the ledger and in the source, in the order of the service's lists. Pure. */
function listLines(source: ReadonlyMap<string, number>, status: Status | null): ListLine[] {
  const ledger = new Map<string, number>();
  for (const { list, items } of status?.counts?.items ?? []) ledger.set(list, (ledger.get(list) ?? 0) + items);
  const lists = [...new Set([...source.keys(), ...ledger.keys()])];
  return lists.map((list) => ({ list, source: source.get(list) ?? null, ledger: ledger.get(list) ?? 0 }));
}

/** Returns the oldest time at which a live list was last read; null if none is live or none was read. */
function liveFreshness(status: Status): Date | null {
  const read = status.workspaces
    .flatMap(({ pigeonholes }) => pigeonholes)
    .flatMap(({ freshness }) => (freshness.liveLists === 0 || freshness.readAt === null ? [] : [freshness.readAt]));
  return read.length === 0 ? null : new Date(Math.min(...read.map((at) => Date.parse(at))));
}

const lineEveryMs = 5000;

export type DemoDisplay = (view: DemoView) => void;

/** Shows a block that is redrawn in place on a terminal; otherwise passes a log line to `line` every few seconds. */
export function createDemoDisplay(out: Output, line: (text: string) => void): DemoDisplay {
  if (!out.terminal) return lineDisplay(line, Date.now);
  const block = new LiveBlock(out, { hasScreen: true });
  return (view) => block.show(formatDemoBlock(view, new Date(), out));
}

/** Prints changed notes and addresses immediately, everything else every five seconds. */
export function lineDisplay(line: (text: string) => void, nowMs: () => number): DemoDisplay {
  let saidAt = -Infinity;
  let note: string | null = null;
  const told = new Map<string, string>();
  return (view) => {
    for (const { label, place } of view.places) {
      if (told.get(label) !== place) line(`see the ${label}: ${place}`);
      told.set(label, place);
    }
    const now = nowMs();
    if (now - saidAt < lineEveryMs && view.note === note) return;
    line(formatDemoLine(view, new Date(now)));
    saidAt = now;
    note = view.note;
  };
}

/** Formats the state of the demo as one line of a log, for output that is not a terminal. Pure. */
export function formatDemoLine({ note, status }: DemoView, now: Date): string {
  const at = now.toISOString().slice(11, 19);
  if (status === null) return `${at} ${note ?? 'starting'}`;
  const items = listLines(new Map(), status).reduce((sum, { ledger }) => sum + ledger, 0);
  const fresh = liveFreshness(status);
  const parts = [
    `${counted(items, 'item')} in the ledger${fresh === null ? '' : `, live read ${formatDistance(fresh, now)}`}`,
    ...status.sinks.map(({ name, state, reason, delivered, withheld, backlog }) => {
      const trouble = state === 'working' ? '' : `, ${state}${reason === null ? '' : `: ${reason}`}`;
      return `${name}: ${grouped(delivered)} delivered, ${grouped(sumOf(withheld))} withheld, backlog ${grouped(backlog)}${trouble}`;
    }),
    ...(note === null ? [] : [note]),
  ];
  return `${at} ${parts.join(' | ')}`;
}
