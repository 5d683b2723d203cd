import { styleText } from 'node:util';
import { shownInLine } from './shown-text.js';
import { cutBefore, widthOf } from './text-width.js';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** A piece of a line, and how it looks where there are colours. */
export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type TextLine = readonly Span[];

export function span(text: string, style?: Style): Span {
  return { text, style };
}

/** Returns a line as it is printed: never wider than `columns`, with an ellipsis where something is missing. Pure. */
export function renderLine(line: TextLine, { columns, colours }: { columns: number; colours: boolean }): string {
  const spans = line.map(({ text, style }) => ({ text: shownInLine(text), style }));
  const isCut = spans.reduce((width, { text }) => width + widthOf(text), 0) > columns;
  let room = columns;
  let rendered = '';
  for (const { text, style } of spans) {
    const cut = isCut && widthOf(text) >= room ? cutBefore(text, room) : text;
    room -= widthOf(cut);
    rendered +=
      colours && style !== undefined && cut.trim() !== '' ? styleText(style, cut, { validateStream: false }) : cut;
    if (room <= 0 || cut !== text) break;
  }
  return rendered.trimEnd();
}
