import type { SinkView } from '../../api/status-view.js';
import { reasonWords } from '../format-status.js';
import { inWords } from '../in-words.js';
import { sumOf } from './demo-view.js';
import { grouped } from '../grouped.js';
import { span, type TextLine } from '../text-line.js';
import { wrapFacts } from './wrap-facts.js';

const headings = ['delivered', 'withheld', 'to go'] as const;
const numberWidth = 10;
const lastWidth = 12;

/**
 * The sinks as a table, a line each, and below a sink what a person should know of it. What there is no room for goes:
 * first when it last delivered, then the beginnings of long names. Pure.
 */
export function formatDemoSinks(sinks: readonly SinkView[], now: Date, columns: number): TextLine[] {
  if (sinks.length === 0) return [];
  const numbers = headings.length * numberWidth;
  const names = sinks.map(({ name, type }) => `${name} (${type})`);
  const widest = Math.max('sink'.length, ...names.map(({ length }) => length));
  const hasLast = columns >= widest + numbers + lastWidth;
  const nameWidth = Math.max(6, Math.min(widest, columns - numbers - (hasLast ? lastWidth : 0)));
  const titles = headings.map((title) => title.padStart(numberWidth)).join('');
  return [
    [span(`${'sink'.padEnd(nameWidth)}${titles}${hasLast ? 'last'.padStart(lastWidth) : ''}`, 'dim')],
    ...sinks.flatMap((sink) => [
      [
        span(nameOf(sink, nameWidth).padEnd(nameWidth)),
        span(grouped(sink.delivered).padStart(numberWidth), 'green'),
        span(grouped(sumOf(sink.withheld)).padStart(numberWidth)),
        span(grouped(sink.backlog).padStart(numberWidth), sink.backlog > 0 ? 'yellow' : undefined),
        ...(hasLast ? [span(lastOf(sink, now).padStart(lastWidth), 'dim')] : []),
      ],
      ...remarks(sink, columns),
    ]),
  ];
}

function nameOf({ name, type }: SinkView, width: number): string {
  const full = `${name} (${type})`;
  if (full.length <= width) return full;
  return name.length <= width ? name : `${name.slice(0, width - 1)}…`;
}

function lastOf({ deliveredAt }: SinkView, now: Date): string {
  return deliveredAt === null ? 'never' : inWords(new Date(deliveredAt), now);
}

function remarks({ state, reason, withheld, dead }: SinkView, columns: number): TextLine[] {
  const facts = (counts: Readonly<Record<string, number>>): string[] =>
    Object.entries(counts).map(([why, n]) => `${grouped(n)} ${reasonWords(why)}`);
  return [
    ...(state === 'working'
      ? []
      : wrapFacts('  ', [`${state}${reason === null ? '' : `: ${reason}`}`], columns, 'red')),
    ...wrapFacts('  withheld: ', facts(withheld), columns, 'dim'),
    ...wrapFacts('  dead letters: ', facts(dead), columns, 'red'),
  ];
}
