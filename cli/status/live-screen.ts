import { extraRows, renderLine, span, type TextLine } from '../text-line.js';
import { eventLines } from './event-lines.js';
import { rateLines, separated, problemLines, shortProblemLines, itemLines, type Moment } from './format-status.js';
import { sinkLines } from './sink-lines.js';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Returns the screen that is redrawn in place. The head is always complete. To fit the terminal, it omits first the
 * polling intervals, then events, then the advice for problems, then problems, then the details below sinks. Pure.
 * @param head the title, the address of the page and the steps
 * @param moment null while nothing is known yet
 */
export function liveScreen(head: readonly TextLine[], moment: Moment | null, now: Date, screen: Screen): string[] {
  const rows = screen.rows - 1 - extraRows(head, screen.columns); // the cursor is below the last line
  return fitted(head, moment, { now, columns: screen.columns, rows }).map((line) => renderLine(line, screen));
}

/** Limits for each section. */
interface Amount {
  readonly maxEvents: number;
  /** Maximum number of problems; Infinity also shows their advice. */
  readonly maxProblems: number;
  readonly hasRemarks: boolean;
  /** Shows the polling intervals in force below each event. */
  readonly hasIntervals?: boolean;
}

interface Room {
  readonly now: Date;
  readonly columns: number;
  readonly rows: number;
}

const fewEvents = 5;

function fitted(head: readonly TextLine[], moment: Moment | null, room: Room): TextLine[] {
  const { rows } = room;
  if (moment === null) return head.slice(0, rows);
  const allEvents = Math.min(rows, Math.max(0, ...moment.status.workspaces.map((each) => each.pigeonholes.length)));
  const downTo = (from: number, to: number): number[] =>
    Array.from({ length: Math.max(0, from - to) }, (_, n) => from - n);
  const amounts: Amount[] = [
    { maxEvents: allEvents, maxProblems: Infinity, hasRemarks: true, hasIntervals: true },
    ...[...downTo(allEvents, fewEvents), Math.min(allEvents, fewEvents)].map((maxEvents) => ({
      maxEvents,
      maxProblems: Infinity,
      hasRemarks: true,
    })),
    ...[12, 8, 4].map((maxProblems) => ({ maxEvents: fewEvents, maxProblems, hasRemarks: true })),
    ...[3, 2, 1].map((least) => ({ maxEvents: least, maxProblems: least, hasRemarks: false })),
  ];
  for (const amount of amounts) {
    const lines = sections(head, moment, room, amount);
    if (lines.length <= rows) return lines;
    const dense = lines.filter((line) => line.length > 0);
    if (dense.length <= rows) return dense;
  }
  const least = sections(head, moment, room, amounts.at(-1)!).filter((line) => line.length > 0);
  return [...least.slice(0, Math.max(0, rows - 1)), [span('… enlarge the window, or see "pigeonpost status"', 'dim')]];
}

function sections(
  head: readonly TextLine[],
  moment: Moment,
  { now, columns }: Room,
  { maxEvents, maxProblems, hasRemarks, hasIntervals }: Amount,
): TextLine[] {
  const { workspaces, sinks } = moment.status;
  return separated([
    [...head, ...rateLines(moment, columns)],
    maxProblems === Infinity ? problemLines(moment, now, columns) : shortProblemLines(moment, maxProblems),
    ...workspaces.map((workspace) => [
      ...eventLines(workspace, { now, columns, maxEvents, hasIntervals: hasIntervals === true }),
      ...(hasRemarks ? itemLines(moment.items, workspace.name, columns) : []),
    ]),
    sinkLines(sinks, { now, columns, says: hasRemarks ? 'state' : 'nothing', troubles: moment.overview.troubles }),
  ]);
}
