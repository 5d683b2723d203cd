import type { Output } from './context.js';
import { paint, type Style, widthOf, wrapText } from './text-line.js';

/**
 * Prints a line. On a terminal that is narrower than the line, wraps it between words and indents the continuation;
 * output for other programs stays on one line.
 */
export function printLine(out: Pick<Output, 'line' | 'terminal' | 'columns'>, text: string): void {
  const { terminal, columns } = out;
  if (!terminal || widthOf(text) <= columns) return out.line(text);
  const lead = /^ */.exec(text)![0];
  for (const line of wrapText(text, { columns, lead, indent: lead.length + 4 })) out.line(line);
}

const labelWidth = 8;

/**
 * Prints a label and a text in two columns. On a terminal, the text is wrapped between words within its column.
 */
export function printLabelled(
  out: Pick<Output, 'line' | 'terminal' | 'columns' | 'colours'>,
  [label, style]: readonly [label: string, style: Style],
  text: string,
): void {
  const { terminal, columns, colours } = out;
  const lead = label.padEnd(labelWidth);
  const lines = terminal ? wrapText(text, { columns, lead }) : [`${lead}${text}`];
  for (const [index, line] of lines.entries()) {
    out.line(index === 0 ? `${paint(label, style, colours)}${line.slice(label.length)}` : line);
  }
}
