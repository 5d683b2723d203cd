import { spreadsheetSafe } from './spreadsheet-safe.js';

/** Tells Excel that the text is UTF-8; to be written once, before the first line. */
export const byteOrderMark = '\ufeff';

/**
 * A line of CSV (RFC 4180) that no spreadsheet runs or rewrites. Every cell is quoted: where semicolons separate, an unquoted one would
 * begin a cell that nobody looked at.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${spreadsheetSafe(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}
