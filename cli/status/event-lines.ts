import type { PigeonholeView, WorkspaceView } from '../../operations/status-view.js';
import {
  catchingUpWord,
  readNotes,
  stateWords,
  untilSentence,
  waitReason,
  waitWords,
} from '../../base/reading-words.js';
import { counted, grouped, formatDistance } from '../../base/words.js';
import {
  shownInLine,
  type Span,
  span,
  type TextLine,
  cell,
  cutToWidth,
  widthOf,
  wrapLines,
  wrapText,
} from '../text-line.js';
import { stateStyle } from './sink-lines.js';

const statusWidth = 10;
const stateWidth = 12;
const changesWidth = 10;
const gap = 2;
/** Number of columns that the other cells leave for a long name, where possible. */
const shortName = 16;

interface EventSheet {
  readonly now: Date;
  readonly columns: number;
  /** Maximum number of events listed, those that need attention first, then live ones; the others are counted. */
  readonly maxEvents: number;
  /** Adds a line with the polling intervals in force below each event. */
  readonly hasIntervals?: boolean;
}

/**
 * Returns a workspace and its events as a table, one line each. On a narrow terminal it omits the number of changes
 * first, then the status, then the ends of names. Pure.
 */
export function eventLines(workspace: WorkspaceView, sheet: EventSheet): TextLine[] {
  const { columns } = sheet;
  const shown = byUrgency(workspace.pigeonholes).slice(0, sheet.maxEvents);
  const inOrder = workspace.pigeonholes.filter((pigeonhole) => shown.includes(pigeonhole));
  const rows = inOrder.map((pigeonhole) => ({
    pigeonhole,
    name: nameOf(pigeonhole),
    read: freshness(pigeonhole, sheet),
  }));
  const widest = Math.max('event'.length, ...rows.map(({ name: { name, id } }) => widthOf(name) + id.length));
  const readWidth = Math.max(0, ...rows.map(({ read }) => widthOf(read)));
  const needed = Math.min(widest, shortName) + gap + stateWidth + gap + readWidth;
  const hasStatus = columns >= needed + statusWidth;
  const fixed = gap + (hasStatus ? statusWidth : 0) + stateWidth + gap + readWidth;
  const hasChanges = columns >= Math.min(widest, 24) + fixed + changesWidth;
  const nameWidth = Math.max(4, Math.min(widest, columns - fixed - (hasChanges ? changesWidth : 0)));
  const more = workspace.pigeonholes.length - inOrder.length;
  return [
    ...headLines(workspace, sheet),
    ...quotaLines(workspace, sheet),
    ...(rows.length === 0
      ? []
      : [
          [
            span(
              `${cell('event', nameWidth + gap)}${hasStatus ? cell('status', statusWidth) : ''}${cell('state', stateWidth)}${hasChanges ? 'changes'.padStart(changesWidth) : ''}${' '.repeat(gap)}read`,
              'dim',
            ),
          ],
        ]),
    ...rows.flatMap(({ pigeonhole, name, read }): TextLine[] => [
      [
        span(`${nameCell(name, nameWidth)}${' '.repeat(gap)}`),
        ...(hasStatus ? [span(cell(pigeonhole.status ?? '', statusWidth), 'dim')] : []),
        stateCell(pigeonhole),
        ...(hasChanges ? [span(grouped(pigeonhole.changes).padStart(changesWidth))] : []),
        span(`${' '.repeat(gap)}${read}`),
      ],
      ...asideLines(pigeonhole, sheet),
    ]),
    ...(more === 0 ? [] : [[span(`… and ${counted(more, 'more event', 'more events')}`, 'dim')]]),
  ];
}

/**
 * Returns the cell with the state. If a list was not read within its interval, the state is "late". After an outage, it
 * is "catching up" until the lists that were due have been read.
 */
function stateCell({ state, freshness: { lateLists, catchingUp } }: PigeonholeView): Span {
  const word = state !== 'working' ? null : lateLists > 0 ? 'late' : catchingUp ? catchingUpWord : null;
  const style = word === null ? stateStyle(state) : 'yellow';
  return span(cell(word ?? stateWords[state], stateWidth), style);
}

const urgency = ['failing', 'paused', 'waiting', 'backfilling', 'working'] as const;

function byUrgency(pigeonholes: readonly PigeonholeView[]): PigeonholeView[] {
  const rank = ({ state, status }: PigeonholeView): number => urgency.indexOf(state) * 2 + (status === 'live' ? 0 : 1);
  return pigeonholes.toSorted((a, b) => rank(a) - rank(b));
}

interface EventName {
  readonly name: string;
  /** The ID in brackets. It is never cut, unlike the name, because commands accept it. */
  readonly id: string;
}

function nameOf({ id, name }: PigeonholeView): EventName {
  if (id === 0) return { name: 'workspace lists', id: '' };
  // Control characters are replaced before the width is measured, because the replacement may have another width.
  return name === null ? { name: `pigeonhole ${id}`, id: '' } : { name: shownInLine(name), id: ` (${id})` };
}

function nameCell({ name, id }: EventName, columns: number): string {
  return cell(`${cutToWidth(name, Math.max(1, columns - id.length))}${id}`, columns);
}

/** Columns that the other cells of a narrow table need: a short name, the state and the gaps. */
const besidesRead = shortName + gap + stateWidth + gap;

/**
 * Returns the times of the last and the next read, such as "3 s ago, next in 2 s", of the live lists, or of the others
 * if none is live. If lists are late or nothing can be read now, it says so in place of the next read. On a narrow
 * terminal, it first omits the time at which a wait ends, then the reason, then the number of late lists.
 */
function freshness({ freshness: fresh }: PigeonholeView, { now, columns }: EventSheet): string {
  const read = fresh.readAt === null ? 'not read yet' : formatDistance(new Date(fresh.readAt), now);
  if (columns < 60) return read;
  const { late, waits, nextAt } = readNotes(fresh);
  const next =
    nextAt === null || fresh.readAt === null
      ? null
      : `next ${Date.parse(nextAt) < now.getTime() + 1000 ? 'now' : formatDistance(new Date(nextAt), now)}`;
  const versions = [
    [read, late, waits === null ? next : withTimeOfDay(waitWords(waits), now)],
    [read, late, waits === null ? next : waitReason(waits)],
    [read, late],
  ].map((parts) => parts.filter((part) => part !== null).join(', '));
  return versions.find((text) => widthOf(text) <= columns - besidesRead) ?? read;
}

/** Shortens instants to "10:40:12 UTC", or "2026-11-22 00:00 UTC" on another day. */
function withTimeOfDay(sentence: string, now: Date): string {
  return sentence.replaceAll(
    /(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)Z/g,
    (_, day: string, minute: string, second: string) =>
      day === now.toISOString().slice(0, 10) ? `${minute}${second} UTC` : `${day} ${minute} UTC`,
  );
}

function headLines(workspace: WorkspaceView, { now, columns }: EventSheet): TextLine[] {
  const { name, state, reason, unanswered } = workspace;
  const next = untilSentence(workspace, now);
  const again = next === null ? '' : `, ${next}`;
  const why = state === 'waiting' && unanswered === null && reason !== null ? `: ${reason}` : ''; // other reasons are listed as problems
  const [first = '', ...others] = wrapText(`${name}: ${state}${again}${why}`, {
    columns,
    lead: 'workspace ',
    indent: 4,
  });
  const at = first.lastIndexOf(`: ${state}`);
  if (at < 0) return [first, ...others].map((line) => [span(line, stateStyle(state))]);
  return [
    [span(first.slice(0, at + 2), 'bold'), span(first.slice(at + 2), stateStyle(state))],
    ...others.map((line): TextLine => [span(line)]),
  ];
}

/** Returns lines with facts about an event that are not listed as problems. */
function asideLines({ setAside, freshness: { groups }, rehearsal }: PigeonholeView, sheet: EventSheet): TextLine[] {
  const cadences = groups.map(({ lists, cadence }) => `${counted(lists, 'list')} ${cadence}`);
  const facts = [
    ...(rehearsal === null ? [] : [`the rehearsal ends ${formatDistance(new Date(rehearsal.until), sheet.now)}`]),
    ...(cadences.length === 0 || sheet.hasIntervals !== true ? [] : [cadences.join('; ')]),
    ...(setAside === 0 ? [] : [`${counted(setAside, 'row')} without an ID set aside`]),
  ];
  return facts.flatMap((text) => wrapLines(text, 'dim', { columns: sheet.columns, lead: '  ', indent: 4 }));
}

/** Formats the used and remaining quota, the time of its reset, and the number of requests that the next hour needs. */
function quotaLines({ quota }: WorkspaceView, { now, columns }: EventSheet): TextLine[] {
  if (quota === null) return [];
  const { limit, used, usedByAll, left, reserved, nextHour } = quota;
  const of = limit === null ? '' : ` of ${grouped(limit)}`;
  const kept = reserved > 0 ? ` (${grouped(reserved)} of them reserved for imports)` : '';
  const parts = [
    `${grouped(usedByAll)}${of} used${usedByAll === used ? '' : `, ${grouped(used)} of them by pigeonpost`}`,
    left === null ? 'the service does not report how many are left' : `${grouped(left)} left${kept}`,
    ...(quota.resetAt === null ? [] : [`reset ${formatDistance(new Date(quota.resetAt), now)}`]),
    `the next hour needs ${grouped(nextHour.all)}: ${grouped(nextHour.live)} live, ${grouped(nextHour.idle)} idle, ${grouped(nextHour.sweep)} for sweeps`,
  ];
  const short =
    quota.lastsUntil === null
      ? []
      : [`the part for reading is used up ${formatDistance(new Date(quota.lastsUntil), now)} at the present intervals`];
  return [`requests: ${parts.join('; ')}`, ...short].flatMap((text) =>
    wrapLines(text, 'dim', { columns, lead: '  ', indent: 4 }),
  );
}
