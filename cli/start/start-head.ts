import { spanInWords } from '../in-words.js';
import { span, type TextLine } from '../text-line.js';
import { keepEnd } from '../text-width.js';
import { wrapText } from '../wrap-text.js';

export interface StartStep {
  readonly text: string;
  readonly sinceMs: number;
}

/** What the head of the screen of `start` says. */
export interface StartState {
  readonly startedMs: number;
  readonly phase: 'starting' | 'running' | 'stopping' | 'stopped';
  /** What was done or is in progress, oldest first; the last one is in progress until the phase is `running`. */
  readonly steps: readonly StartStep[];
  /** A link that signs a browser in; null: the process does not serve yet. */
  readonly page: string | null;
  /** Where the log is. */
  readonly log: string;
  /** Why the rest of the screen may be old; null: it is not. */
  readonly note: string | null;
}

const labelWidth = 'page  '.length;

/** Returns the pinned top of the screen: a title, where the page and the log are, and what is going on. Pure. */
export function startHead(state: StartState, nowMs: number, columns: number): TextLine[] {
  const { phase, startedMs, page, log, note, steps } = state;
  const age = spanInWords((nowMs - startedMs) / 1000);
  const titles = {
    starting: ` is starting, ${age} so far; Ctrl-C stops it`,
    running: ` is ready and has run for ${age}; Ctrl-C stops it`,
    stopping: ' is stopping; Ctrl-C again ends it immediately, and nothing is lost',
    stopped: ` has stopped after ${age}`,
  };
  const place = (label: string, text: string): TextLine => [
    span(label.padEnd(labelWidth), 'dim'),
    span(keepEnd(text, Math.max(1, columns - labelWidth))),
  ];
  return [
    [span('pigeonpost', 'bold'), span(titles[phase], phase === 'stopping' ? 'yellow' : 'dim')],
    ...(page === null ? [] : [place('page', page)]),
    place('log', log),
    ...(phase === 'running' || phase === 'stopped' ? [] : stepLines(steps, nowMs, { columns, phase })),
    ...(note === null ? [] : wrapText(note, { columns }).map((line): TextLine => [span(line, 'yellow')])),
  ];
}

/** Older steps with how long they took, the last one with how long it takes already. */
function stepLines(
  steps: readonly StartStep[],
  nowMs: number,
  { columns, phase }: { readonly columns: number; readonly phase: StartState['phase'] },
): TextLine[] {
  const lines = steps.flatMap(({ text, sinceMs }, index): TextLine[] => {
    const isLast = index === steps.length - 1;
    const endMs = steps[index + 1]?.sinceMs ?? nowMs;
    const took = `${spanInWords((endMs - sinceMs) / 1000)}${isLast ? ' so far' : ''}`;
    return wrapText(`${text} (${took})`, { columns, lead: isLast ? '> ' : '  ', indent: 2 }).map((line) => [
      span(line, isLast ? (phase === 'stopping' ? 'yellow' : undefined) : 'dim'),
    ]);
  });
  return [[], ...lines];
}
