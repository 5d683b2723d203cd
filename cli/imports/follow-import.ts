import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImportView } from '../../importing/desk/import-views.js';
import { CommandError, ExitCode } from '../exit-code.js';
import type { ImportClient } from './import-client.js';
import { type Output, LiveBlock } from '../output.js';
import { renderLine, span, type TextLine } from '../text-line.js';
import { counted, settledRows, formatSpan, grouped, formatDistance } from '../../base/words.js';
import type { Sheet } from './format-check.js';

const lookEveryMs = 500;
/** Polls take at most one quarter of the time, because each counts every row of the import in the shared store. */
const shareOfLooking = 4;
/** Maximum time without an answer. pigeonpost may be restarting, and the import continues afterwards. */
const maxSilenceMs = 60_000;

/** Returns the wait before the next poll. Pure. @param tookMs duration of the last poll */
export function pauseAfter(tookMs: number): number {
  return Math.max(lookEveryMs, (shareOfLooking - 1) * tookMs);
}

/**
 * The reason why the command no longer follows the import: it has ended, an operator must resume it, or the command was
 * stopped.
 */
export type Followed = { readonly kind: 'ended' | 'paused' | 'stopped'; readonly view: ImportView };

/**
 * Shows the progress of an import until it has ended. If pigeonpost is restarted meanwhile, waits for it.
 * @param stop ends this function, but not the import
 * @throws {CommandError} if nothing answers for a minute
 */
export async function followImport(
  client: Pick<ImportClient, 'find'>,
  first: ImportView,
  { display, stop }: { readonly display: ProgressDisplay; readonly stop: AbortSignal },
): Promise<Followed> {
  let view = first;
  let answeredAt = Date.now();
  let tookMs = 0;
  for (;;) {
    display(view, Date.now());
    if (view.state === 'done' || view.state === 'cancelled') return { kind: 'ended', view };
    if (view.state === 'paused') return { kind: 'paused', view };
    await pause(pauseAfter(tookMs), undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return { kind: 'stopped', view };
    const askedAt = performance.now();
    try {
      view = await client.find(first.id);
      answeredAt = Date.now();
      tookMs = performance.now() - askedAt;
    } catch (error) {
      const silent = error instanceof CommandError && error.exitCode === ExitCode.Unreachable;
      if (!silent || Date.now() - answeredAt > maxSilenceMs) throw error;
    }
  }
}

const lineEveryMs = 10_000;

type ProgressDisplay = (view: ImportView, nowMs: number) => void;

/** Shows a bar that is redrawn in place on a terminal; otherwise, and with `--json`, lines on standard error. */
export function createProgressDisplay(out: Output, json: boolean): ProgressDisplay {
  const pace = new Pace();
  /** The last known rate. During a wait for the quota, the import is expected to continue at this rate. */
  let perSecond: number | null = null;
  const noted = (view: ImportView, nowMs: number): number | null => {
    if (view.state === 'running') perSecond = pace.note(settledRows(view.counts), nowMs) ?? perSecond;
    else pace.forget();
    return perSecond;
  };
  if (!out.terminal || json) return lineDisplay((text) => out.note(text), noted);
  const block = new LiveBlock(out);
  return (view, nowMs) => {
    const sheet = { columns: out.columns, colours: out.colours, now: new Date(nowMs) };
    block.show(formatProgress(view, noted(view, nowMs), sheet));
  };
}

/**
 * Prints a line immediately when a wait starts or ends, when the reason for a pause changes, and at the end; otherwise
 * every ten seconds.
 */
function lineDisplay(
  line: (text: string) => void,
  paceOf: (view: ImportView, nowMs: number) => number | null,
): ProgressDisplay {
  let saidAt = -Infinity;
  let said = '';
  let standing: string | null = null;
  return (view, nowMs) => {
    const perSecond = paceOf(view, nowMs);
    const now = new Date(nowMs);
    const stands = standingInWords(view, { now });
    const changed = (stands === null) !== (standing === null) || (view.state === 'paused' && stands !== standing);
    const text = [progressInWords(view, perSecond, { now }), ...(stands === null ? [] : [stands])].join('; ');
    const isEnd = (view.state === 'done' || view.state === 'cancelled') && text !== said;
    if (!changed && !isEnd && nowMs - saidAt < lineEveryMs) return;
    line(text);
    said = text;
    saidAt = nowMs;
    standing = stands;
  };
}

/**
 * Period over which the rate is measured: long enough for a few requests, and short enough to show when the service
 * becomes slower or faster.
 */
const overMs = 30_000;

/** Measures how fast a count has risen in the last 30 s. */
export class Pace {
  #seen: { readonly atMs: number; readonly count: number }[] = [];

  /**
   * @param atMs time of a monotonic clock
   * @returns count per second over the last 30 s; null before the first second and while the count does not rise
   */
  note(count: number, atMs: number): number | null {
    this.#seen.push({ atMs, count });
    // the newest measurement before the period is kept, because it is the period's start
    const recent = this.#seen.findIndex((each) => each.atMs > atMs - overMs);
    if (recent > 1) this.#seen = this.#seen.slice(recent - 1);
    const first = this.#seen[0]!;
    if (atMs - first.atMs < 1000 || count === first.count) return null;
    return (count - first.count) / ((atMs - first.atMs) / 1000);
  }

  /** Discards all measurements, after a wait. */
  forget(): void {
    this.#seen = [];
  }
}

/** Minimum interval between two redraws. It is long enough for a terminal on a slow connection. */
const drawEveryMs = 200;

/** Shows how much of a file the running pigeonpost has read. */
interface UploadDisplay {
  readonly onSent: (bytes: number) => void;
  end(): void;
}

/**
 * Shows the progress of an upload in a line that is redrawn in place, because a large file takes minutes. Used only on
 * a terminal.
 * @param doing the activity, such as "checking people.csv"
 * @param fileBytes size of the file
 * @param now time of a monotonic clock in ms
 */
export function createUploadDisplay(
  out: Pick<Output, 'draw' | 'columns'>,
  { doing, fileBytes, now }: { readonly doing: string; readonly fileBytes: number; readonly now: () => number },
): UploadDisplay {
  let drawnAt = -Infinity;
  return {
    onSent(bytes) {
      if (now() - drawnAt < drawEveryMs) return;
      drawnAt = now();
      const share = fileBytes === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / fileBytes));
      out.draw(`\r${renderLine([span(`${doing}: ${share} %`)], { columns: out.columns, colours: false })}\u001b[K`);
    },
    end() {
      if (drawnAt > -Infinity) out.draw('\r\u001b[K');
      drawnAt = -Infinity;
    },
  };
}

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

/** Returns the progress as text, such as "12,500 of 20,000 rows, 410 rows/s, 18 s left". Pure. */
export function progressInWords(view: ImportView, perSecond: number | null, { now }: Pick<Sheet, 'now'>): string {
  const settled = settledRows(view.counts);
  const left = view.counts.waiting;
  const rate = perSecond === null || left === 0 ? [] : [`${grouped(Math.round(perSecond))} rows/s`];
  const waitS = view.until === null ? 0 : Math.max(0, (new Date(view.until).getTime() - now.getTime()) / 1000);
  const time =
    perSecond === null || perSecond <= 0 || left === 0 || view.state === 'paused'
      ? []
      : [`${formatSpan(Math.ceil(waitS + left / perSecond))} left`];
  return [`${grouped(settled)} of ${counted(view.rows, 'row')}`, ...rate, ...time].join(', ');
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

function barOf({ counts, rows }: ImportView, width: number): TextLine {
  const share = rows === 0 ? 1 : settledRows(counts) / rows;
  const full = Math.floor(share * width); // full only when the import is finished
  return [span('█'.repeat(full), 'green'), span('░'.repeat(width - full), 'dim')];
}

/**
 * Returns a time in local time, such as "02:00", with the date if it is not today. Pure.
 * @param timeZone IANA name; by default that of this machine
 */
export function clockTime(at: Date, now: Date, timeZone?: string): string {
  const day = (date: Date): string =>
    date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone });
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return day(at) === day(now) ? time : `${day(at)}, ${time}`;
}
