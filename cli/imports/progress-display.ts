import type { ImportView } from '../../importing/desk/import-views.js';
import type { Output } from '../context.js';
import { LiveBlock } from '../live-block.js';
import { formatProgress, progressInWords, settledRows, standingInWords } from './format-progress.js';
import { Pace } from './pace.js';

const lineEveryMs = 10_000;

/** Shows how far an import is, each time it is told. */
export type ProgressDisplay = (view: ImportView, nowMs: number) => void;

/** On a terminal a bar that is redrawn in place; elsewhere, and for a program, a line on standard error now and then. */
export function createProgressDisplay(out: Output, json: boolean): ProgressDisplay {
  const pace = new Pace();
  /** The last that is known: while the quota is waited for it is what comes after. */
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

/** What it waits for is told at once when it changes, all else every ten seconds. */
export function lineDisplay(
  line: (text: string) => void,
  paceOf: (view: ImportView, nowMs: number) => number | null,
): ProgressDisplay {
  let saidAt = -Infinity;
  let standing: string | null = null;
  return (view, nowMs) => {
    const perSecond = paceOf(view, nowMs);
    const now = new Date(nowMs);
    const stands = standingInWords(view, { now });
    const changed = (stands === null) !== (standing === null) || (view.state === 'paused' && stands !== standing);
    if (!changed && nowMs - saidAt < lineEveryMs) return;
    line([progressInWords(view, perSecond, { now }), ...(stands === null ? [] : [stands])].join('; '));
    saidAt = nowMs;
    standing = stands;
  };
}
