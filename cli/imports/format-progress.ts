import type { ImportCounts, ImportView } from '../../importing/desk/import-views.js';
import { formatSpan, grouped, formatDistance } from '../../base/words.js';
import { renderLine, span, type TextLine } from '../text-line.js';
import type { Sheet } from './format-check.js';

const widestBar = 40;
const narrowestBar = 8;

/** Formats the progress of an import: a bar, the rate, the time left, and the reason for a wait. Pure. */
export function formatProgress(
  view: ImportView,
  perSecond: number | null,
  sheet: Sheet & { readonly colours: boolean },
): string[] {
  const facts = progressInWords(view, perSecond, sheet);
  const width = Math.min(widestBar, sheet.columns - facts.length - 3);
  const bar: TextLine = width < narrowestBar ? [] : [...barOf(view, width), span('  ')];
  const standing = standingInWords(view, sheet);
  const lines: TextLine[] = [[...bar, span(facts)], ...(standing === null ? [] : [[span(standing, 'yellow')]])];
  return lines.map((line) => renderLine(line, sheet));
}

/** "12,500 of 20,000 rows, 410 rows/s, 18 s left": the same for a log. Pure. */
export function progressInWords(view: ImportView, perSecond: number | null, { now }: Pick<Sheet, 'now'>): string {
  const settled = settledRows(view.counts);
  const left = view.rows - settled;
  const rate = perSecond === null || left === 0 ? [] : [`${grouped(Math.round(perSecond))} rows/s`];
  const waitS = view.until === null ? 0 : Math.max(0, (new Date(view.until).getTime() - now.getTime()) / 1000);
  const time =
    perSecond === null || perSecond <= 0 || left === 0 || view.state === 'paused'
      ? []
      : [`${formatSpan(Math.ceil(waitS + left / perSecond))} left`];
  return [`${grouped(settled)} of ${grouped(view.rows)} rows`, ...rate, ...time].join(', ');
}

/** Returns why the import waits, as a sentence; null if it does not. Pure. */
export function standingInWords(
  { state, reason, until }: ImportView,
  { now, timeZone }: Omit<Sheet, 'columns'>,
): string | null {
  switch (state) {
    case 'waiting': {
      const at = until === null ? null : new Date(until);
      const again = at === null ? '' : `: continues at ${clockTime(at, now, timeZone)} (${formatDistance(at, now)})`;
      return `${reason ?? 'waiting'}${again}`;
    }
    case 'paused':
      return `paused${reason === null ? '' : `: ${reason}`}`;
    case 'staging':
      return 'pigeonpost is reading the file';
    default:
      return null;
  }
}

/** Returns the number of rows with a final outcome. */
export function settledRows(counts: ImportCounts): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.waiting;
}

function barOf({ counts, rows }: ImportView, width: number): TextLine {
  const share = rows === 0 ? 1 : settledRows(counts) / rows;
  const full = Math.floor(share * width); // full only when the import is finished
  return [span('█'.repeat(full), 'green'), span('░'.repeat(width - full), 'dim')];
}

/**
 * "02:00", with the date if it is not today: an instant in local time. Pure.
 * @param timeZone IANA name; by default that of this machine
 */
export function clockTime(at: Date, now: Date, timeZone?: string): string {
  const day = (date: Date): string =>
    date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone });
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return day(at) === day(now) ? time : `${day(at)}, ${time}`;
}
