import type { Output } from './context.js';
import { wrapText } from './wrap-text.js';

/**
 * Prints a line as it is, for other programs; on a terminal that is narrower broken between words, what follows standing
 * a little further in, where the terminal itself would break it anywhere.
 */
export function printLine(out: Pick<Output, 'line' | 'terminal' | 'columns'>, text: string): void {
  const { terminal, columns } = out;
  if (!terminal || text.length <= columns) return out.line(text);
  const lead = /^ */.exec(text)![0];
  for (const line of wrapText(text, { columns, lead, indent: lead.length + 4 })) out.line(line);
}
