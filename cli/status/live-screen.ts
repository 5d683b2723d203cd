import { renderLine, span, type TextLine } from '../text-line.js';
import { eventLines } from './event-lines.js';
import { rateLines, separated } from './format-status.js';
import type { Moment } from './moment.js';
import { problemLines } from './problem-lines.js';
import { sinkLines } from './sink-lines.js';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Returns what is redrawn in place: the head is always whole, and what follows gives way until everything fits. Events go
 * first, then problems and sinks from their ends, with a line that says so. Pure.
 * @param head what must stay readable: the title, the address of the page, what is going on
 * @param moment null: nothing is known yet
 */
export function liveScreen(head: readonly TextLine[], moment: Moment | null, now: Date, screen: Screen): string[] {
  const { columns } = screen;
  const rows = screen.rows - 1; // below the last line stands the cursor
  return fitted(head, moment, { now, columns, rows }).map((line) => renderLine(line, screen));
}

function fitted(
  head: readonly TextLine[],
  moment: Moment | null,
  { now, columns, rows }: { readonly now: Date; readonly columns: number; readonly rows: number },
): TextLine[] {
  if (moment === null) return head.slice(0, rows);
  const { status } = moment;
  const whole = (maxEvents: number): TextLine[] =>
    separated([
      [...head, ...rateLines(moment, columns)],
      problemLines(moment, now, columns),
      ...status.workspaces.map((workspace) => eventLines(workspace, { now, columns, maxEvents })),
      sinkLines(status.sinks, { now, columns, says: 'state' }),
    ]);
  const mostEvents = Math.min(rows, Math.max(0, ...status.workspaces.map(({ pigeonholes }) => pigeonholes.length)));
  for (let maxEvents = mostEvents; maxEvents > 0; maxEvents -= 1) {
    const lines = whole(maxEvents);
    if (lines.length <= rows) return lines;
    const dense = lines.filter((line) => line.length > 0);
    if (dense.length <= rows) return dense;
  }
  const dense = whole(1).filter((line) => line.length > 0);
  if (dense.length <= rows) return dense;
  return [...dense.slice(0, Math.max(0, rows - 1)), [span('… enlarge the window, or see "pigeonpost status"', 'dim')]];
}
