/** What stands between cells in files that people have, the commonest first. */
const candidates = [',', ';', '\t', '|'] as const;

/** Rows that are looked at. */
const sample = 50;

/**
 * The delimiter of a CSV text: the one that cuts the most rows into as many cells as the first row has; among equals the one with the
 * most cells, then the commonest. A text without any is one column, and the answer `,`.
 * @param head the start of the text; its last row may be cut off and is not looked at unless it is the only one
 */
export function findDelimiter(head: string): string {
  let best = { delimiter: ',', share: 0, cells: 1 };
  for (const delimiter of candidates) {
    const counts = cellCounts(head, delimiter);
    const cells = counts[0] ?? 1;
    if (cells < 2) continue;
    const share = counts.filter((count) => count === cells).length / counts.length;
    if (share > best.share || (share === best.share && cells > best.cells)) best = { delimiter, share, cells };
  }
  return best.delimiter;
}

/** Excel's own hint, `sep=;` as first line, which Excel does not show as a row. */
export function delimiterHint(head: string): string | undefined {
  return /^"?sep=([^\r\n])"?\r?\n/i.exec(head)?.[1];
}

/** Cells of each row that is not empty; delimiters and line ends within quotes do not count. */
function cellCounts(text: string, delimiter: string): number[] {
  const counts: number[] = [];
  let cells = 1;
  let quoted = false;
  let cellStart = 0;
  let rowStart = 0;
  for (let at = 0; at < text.length && counts.length < sample; at++) {
    const character = text[at]!;
    if (character === '"' && (quoted || at === cellStart)) quoted = !quoted;
    else if (quoted) continue;
    else if (character === delimiter) {
      cells++;
      cellStart = at + 1;
    } else if (character === '\n' || character === '\r') {
      if (at > rowStart) counts.push(cells);
      cells = 1;
      cellStart = rowStart = at + 1;
    }
  }
  if (counts.length === 0) counts.push(cells);
  return counts;
}
