/**
 * A text as lines of at most `columns`, broken between words; the lines after the first begin with `indent` blanks. A
 * word that is longer than a line stands whole on its own. Control characters, which a terminal would obey, are blanks.
 * Pure.
 */
export function wrapText(text: string, { columns, indent }: { columns: number; indent: number }): string[] {
  const words = text.replaceAll(/\p{Cc}+/gu, ' ').split(' ');
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (longer.length > columns && line.trim() !== '') {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}
