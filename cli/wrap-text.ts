import { shownInLine } from './shown-text.js';
import { widthOf } from './text-width.js';

/**
 * A text as lines of at most `columns`, broken between words: the first begins with `lead`, the others with as many
 * blanks, or `indent` of them. A word that is longer than a line stands whole on its own. What a terminal would
 * obey is a blank. Pure.
 */
export function wrapText(
  text: string,
  { columns, lead = '', indent = lead.length }: { columns: number; lead?: string; indent?: number },
): string[] {
  const words = shownInLine(text)
    .split(' ')
    .filter((word) => word !== '');
  const lines: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of words) {
    const longer = isEmpty ? `${line}${word}` : `${line} ${word}`;
    if (widthOf(longer) > columns && !isEmpty) {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line.trimEnd()];
}
