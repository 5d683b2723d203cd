import { styleText } from 'node:util';
import { shownInLine } from './shown-text.js';

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

/** As it is printed: never wider than `columns`, an ellipsis where something is missing. Pure. */
export function renderLine(line: TextLine, { columns, colours }: { columns: number; colours: boolean }): string {
  let room = columns;
  let rendered = '';
  const whole = line.reduce((width, { text }) => width + text.length, 0);
  for (const { text, style } of line) {
    const safe = shownInLine(text);
    const cut =
      whole > columns && safe.length >= room ? `${safe.slice(0, Math.max(0, room - 1))}${room > 0 ? '…' : ''}` : safe;
    room -= cut.length;
    rendered +=
      colours && style !== undefined && cut.trim() !== '' ? styleText(style, cut, { validateStream: false }) : cut;
    if (room <= 0) break;
  }
  return rendered.trimEnd();
}

/** A path or an address whose end says most: cut at its beginning. */
export function keepEnd(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - Math.max(0, width - 1))}`;
}
