import { cellValue } from './cell-value.js';
import { type Cell, headerOf, type Sheet } from './sheet.js';
import { byteOrderMark, quotedText } from './spreadsheet-safe.js';

/**
 * Yields a sheet as CSV (RFC 4180) in UTF-8: first a byte order mark, which Excel needs, and the header. Texts are quoted
 * and protected as `spreadsheetSafe` says. Numbers, dates and `TRUE` or `FALSE` are not quoted. Reads a batch of rows only
 * when the reader of the text wants more.
 */
export async function* csvOf(sheet: Omit<Sheet, 'name'>): AsyncGenerator<string, void, undefined> {
  const { columns, timezone, rows } = sheet;
  yield byteOrderMark + lineOf(columns.map((column) => quotedText(headerOf(column, sheet))));
  for await (const batch of rows) {
    const lines = batch.map((cells) => lineOf(columns.map((_column, index) => written(cells[index], timezone))));
    if (lines.length > 0) yield lines.join('');
  }
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function written(cell: Cell | undefined, timezone: string): string {
  const value = cellValue(cell, timezone);
  switch (value.kind) {
    case 'empty':
      return '';
    case 'text':
      return quotedText(readable(value.text));
    case 'flag':
      return value.is ? 'TRUE' : 'FALSE';
    default:
      return value.text;
  }
}

/** Replaces characters at which programs end a text or a file (U+0000, U+001A), and the other control characters. */
function readable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '\ufffd');
}
