import type { Trouble } from '../../operations/find-problems.js';
import { counted } from '../../base/words.js';
import { inWords } from '../format-values.js';
import { span, type Style, type TextLine, wrapText } from '../text-line.js';
import type { Moment } from './moment.js';

const labels: Readonly<Record<Trouble['severity'], readonly [string, Style]>> = {
  error: ['PROBLEM', 'red'],
  warning: ['WARNING', 'yellow'],
  notice: ['note', 'dim'],
};
const labelWidth = 'PROBLEM  '.length;

/** Returns the problems, the worst first, each with its remedy below it. Pure. */
export function problemLines({ overview }: Moment, now: Date, columns: number): TextLine[] {
  return overview.troubles.flatMap((trouble) => {
    const [label, style] = labels[trouble.severity];
    const sentence = `${trouble.text}${sinceText(trouble, now)}`;
    const help = trouble.advice ?? commandOf(trouble);
    return [
      ...indented(sentence, columns).map((line, index): TextLine => [
        span((index === 0 ? label : '').padEnd(labelWidth), style),
        span(line, style === 'dim' ? 'dim' : undefined),
      ]),
      ...(help === null ? [] : indented(help, columns)).map((line): TextLine => [
        span(' '.repeat(labelWidth)),
        span(line, 'bold'),
      ]),
    ];
  });
}

/** Returns a line for each of the first problems, without advice, and the number of the others. Pure. */
export function shortProblemLines({ overview: { troubles } }: Moment, maxProblems: number): TextLine[] {
  const more = troubles.length - maxProblems;
  return [
    ...troubles.slice(0, maxProblems).map(({ severity, text }): TextLine => {
      const [label, style] = labels[severity];
      return [span(label.padEnd(labelWidth), style), span(text, style === 'dim' ? 'dim' : undefined)];
    }),
    ...(more > 0 ? [[span(`… and ${counted(more, 'more problem', 'more problems')}`, 'dim')] satisfies TextLine] : []),
  ];
}

function indented(sentence: string, columns: number): string[] {
  return wrapText(sentence, { columns: Math.max(20, columns - labelWidth) });
}

function sinceText({ since, saysSince }: Trouble, now: Date): string {
  return since === null || saysSince ? '' : ` (started ${inWords(new Date(since), now)})`;
}

/** Returns the command for the page's button; null if no command helps. */
function commandOf({ code, help, kind, name }: Trouble): string | null {
  if (code === 'sink-withholding') return `pigeonpost preview --sink ${name}`;
  if (help === null) return null;
  const { action, see } = help;
  if (action !== null) {
    const target = `${action.kind}:${action.name}`;
    if (action.do === 'approve') return `pigeonpost sink approve ${action.name}`;
    return `pigeonpost ${action.do} ${target}`;
  }
  if (see?.startsWith('/api/deletions') === true) return 'pigeonpost deletions list';
  if (see?.startsWith('/api/dead-letters') === true) {
    return `pigeonpost dead-letters list${kind === 'sink' ? ` --sink ${name}` : ''}`;
  }
  return null;
}
