import { span, type Style, type TextLine } from '../text-line.js';

/**
 * Facts behind a label, separated by commas, broken between two of them where a line is full; later lines stand below
 * the first fact, or a little in where the label takes a third of the room. None for no facts. Pure.
 */
export function wrapFacts(label: string, facts: readonly string[], columns: number, style?: Style): TextLine[] {
  const indent = label.length > columns / 3 ? 4 : label.length;
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const room = columns - (lines.length === 1 ? label.length : indent);
    if (last === undefined) lines.push(fact);
    else if (last.length + ', '.length + fact.length + ','.length <= room) lines[lines.length - 1] = `${last}, ${fact}`;
    else {
      lines[lines.length - 1] = `${last},`;
      lines.push(fact);
    }
  }
  return lines.map((line, index) => [
    span(index === 0 ? label : ' '.repeat(indent), style ?? 'dim'),
    span(line, style),
  ]);
}
