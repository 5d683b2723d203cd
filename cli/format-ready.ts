import type { Readiness, ReadyCheck } from '../operations/ready/readiness.js';
import type { Output } from './context.js';
import { paint } from './paint.js';
import type { Style } from './text-line.js';
import { wrapText } from './wrap-text.js';

const marks: Readonly<Record<ReadyCheck['state'], { readonly word: string; readonly style: Style }>> = {
  ok: { word: 'ok', style: 'green' },
  warning: { word: 'look', style: 'yellow' },
  failed: { word: 'FAILED', style: 'red' },
  unknown: { word: 'unknown', style: 'yellow' },
};

const markWidth = 9; // of the longest, and a gap

/** Whether an event can begin, a line or some for each check, what to do below it, and one sentence at the end. Pure. */
export function formatReady(
  { pigeonhole, ready, checks }: Readiness,
  screen: Pick<Output, 'columns' | 'colours'>,
): string[] {
  const { workspace, id, name, status, startDate, endDate, timezone } = pigeonhole;
  const days =
    startDate === null ? [] : [endDate === null || endDate === startDate ? startDate : `${startDate} to ${endDate}`];
  const about = [`${workspace}/${id}`, status, ...days, timezone].filter((each) => each !== null).join(', ');
  const title = wrapText(name === null ? about : `${name} (${about})`, { columns: screen.columns, indent: 2 });
  return [
    ...title.map((line) => paint(line, 'bold', screen.colours)),
    ...checks.flatMap((check) => checkLines(check, screen)),
    paint(verdict(ready, checks), ready ? 'green' : 'red', screen.colours),
  ];
}

/** How an invented item went through each sink, and one sentence at the end. Pure. */
export function formatCanaries(canaries: readonly ReadyCheck[], screen: Pick<Output, 'columns' | 'colours'>): string[] {
  const bad = canaries.filter(({ state }) => state === 'failed' || state === 'unknown').length;
  const open = canaries.filter(({ state }) => state === 'warning').length;
  const says =
    canaries.length === 0
      ? 'no sink to send a canary to'
      : bad > 0
        ? `canaries: ${bad} of ${canaries.length} did not come through`
        : open > 0
          ? `canaries: none failed, ${open} to look at`
          : 'canaries: all came through and were taken back';
  return [
    ...canaries.flatMap((check) => checkLines(check, screen)),
    paint(says, bad > 0 ? 'red' : 'green', screen.colours),
  ];
}

function checkLines(
  { label, state, says, todo }: ReadyCheck,
  { columns, colours }: Pick<Output, 'columns' | 'colours'>,
): string[] {
  const { word, style } = marks[state];
  const [first, ...more] = wrapText(`${label}: ${says}`, { columns, lead: word.padEnd(markWidth) });
  const help = todo === undefined ? [] : wrapText(todo, { columns, lead: `${' '.repeat(markWidth)}-> ` });
  return [`${paint(word, style, colours)}${first!.slice(word.length)}`, ...more, ...help];
}

function verdict(ready: boolean, checks: readonly ReadyCheck[]): string {
  const count = (state: ReadyCheck['state']): number => checks.filter((check) => check.state === state).length;
  const [failed, unknown, warnings] = [count('failed'), count('unknown'), count('warning')];
  if (!ready) {
    const parts = [
      ...(failed === 0 ? [] : [`${failed} to be mended`]),
      ...(unknown === 0 ? [] : [`${unknown} could not be looked at`]),
      ...(warnings === 0 ? [] : [`${warnings} to look at`]),
    ];
    return `not ready: ${parts.join(', ')}`;
  }
  return warnings === 0 ? 'ready: all is in order' : `ready: nothing has failed, ${warnings} to look at`;
}
