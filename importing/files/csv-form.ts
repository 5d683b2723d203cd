import { namesAField } from './field-words.js';
import { lineAt, plainCells, scanRecord } from './csv-record.js';
import { RegistrantFileError } from './registrant-file.js';

/** The division of a CSV text into cells. */
export interface CsvForm {
  readonly delimiter: string;
  /** Number of cells that most rows have. */
  readonly width: number;
  /** Whether the first line is a hint for Excel and not a row. */
  readonly skipsFirstLine: boolean;
}

/** Usual delimiters, the most common first. */
const candidates = [',', ';', '\t', '|'] as const;

/** Rows inspected. */
const sample = 50;

/**
 * Finds the delimiter of a CSV text from its start. A delimiter hint decides. Otherwise it is the one that separates the
 * most names of columns in some row; then the one with which most rows have the same number of cells; then one that no
 * blank follows, as in prose; then the one with the most cells. A text without any has one column, and the delimiter is `,`.
 * @param head the start of the text; its last row may be incomplete and only counts if it is the only one
 * @param wanted the delimiter that the person names
 * @throws {RegistrantFileError} kind `options` for a delimiter that is none
 */
export function findCsvForm(head: string, wanted?: string): CsvForm {
  if (wanted !== undefined && !/^[^"\r\n]$/u.test(wanted)) {
    throw new RegistrantFileError(
      'options',
      `The delimiter ${JSON.stringify(wanted)} cannot separate cells; use a single character, such as , or ;, or leave it out.`,
    );
  }
  const hint = delimiterHint(head);
  const text = hint === undefined ? head : head.slice(hint.length);
  const delimiter = wanted ?? hint?.delimiter ?? bestDelimiter(text);
  return { delimiter, width: usualWidth(sampleRows(text, delimiter)), skipsFirstLine: hint !== undefined };
}

/**
 * Returns Excel's hint `sep=;` in the first line, which Excel does not show as a row. A program that does not know it
 * and saves the file adds the delimiters of the empty cells after it, and these are the ones that it uses.
 */
function delimiterHint(head: string): { readonly delimiter: string | undefined; readonly length: number } | undefined {
  const [line, own, added] = /^"?sep=([^\r\n"]?)"?([,;\t|]*)(?:\r\n|\n|\r)/i.exec(head) ?? [];
  if (line === undefined) return undefined;
  const delimiter = added?.[0] ?? own;
  return { delimiter: delimiter === '' ? undefined : delimiter, length: line.length };
}

function bestDelimiter(text: string): string {
  let best: { delimiter: string; merits: readonly number[] } | undefined;
  for (const delimiter of candidates) {
    const rows = sampleRows(text, delimiter);
    const width = usualWidth(rows);
    if (width < 2) continue;
    const names = Math.max(...rows.map((cells) => cells.filter(namesAField).length));
    const share = rows.filter(({ length }) => length === width).length / rows.length;
    const isProse = rows.every((cells) => cells.slice(1).every((cell) => cell === '' || /^\s/.test(cell)));
    const merits = [names, share, isProse ? 0 : 1, width];
    if (best === undefined || isGreater(merits, best.merits)) best = { delimiter, merits };
  }
  return best?.delimiter ?? ',';
}

/** Compares lists of numbers: the first difference decides. */
function isGreater(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index >= 0 && a[index]! > b[index]!;
}

/** The number of cells that most rows have; in a tie, the greater. */
function usualWidth(rows: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [most] = [...counts].sort(([a, m], [b, n]) => n - m || b - a);
  return most?.[0] ?? 1;
}

/** The cells of the first rows that are not empty. */
function sampleRows(text: string, delimiter: string): (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let at = 0;
  while (at < text.length && rows.length < sample) {
    const record = scanRecord(text, at, { delimiter, isEnd: true });
    const line = record.kind === 'whole' ? undefined : lineAt(text, at, true)!;
    const { cells, isEnd, next } =
      record.kind === 'whole'
        ? { cells: record.values, isEnd: !record.isTerminated, next: record.next }
        : { cells: plainCells(line!.text, delimiter), isEnd: !line!.isTerminated, next: line!.next };
    at = next;
    if (isEnd && rows.length > 0) break; // it may be incomplete
    if (cells.some((cell) => cell.trim() !== '')) rows.push(cells);
  }
  return rows;
}
