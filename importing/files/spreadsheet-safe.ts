/** What makes spreadsheets run a cell. Source: OWASP, "CSV Injection"; the wide forms are what East Asian keyboards type. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

const month = '(jan|feb|mar|m\u00e4r|mrz|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])[a-z]*';

/**
 * What spreadsheets take for a number or a date although it is a code: zeros in front, more digits than they keep or show, powers of
 * ten, days. Saved again from a spreadsheet, 00123 would be 123: another person.
 */
const misread = new RegExp(
  `^'*(${[
    '0\\d+',
    '\\d{12,}',
    '\\d+(\\.\\d+)?e[+-]?\\d+',
    '\\d{1,4}[-/.]\\d{1,2}([-/.]\\d{1,4})?',
    `\\d{1,4}[-/ ]?${month}([-/ ]?\\d{1,4})?`,
    `${month}[-/ ]?\\d{1,4}`,
    '\\d{1,2}:\\d{2}(:\\d{2})?',
  ].join('|')})$`,
  'i',
);

/** A cell that no spreadsheet runs or rewrites: an apostrophe stands before what would be. `asWritten` takes it away again. */
export function spreadsheetSafe(text: string): string {
  return formula.test(text) || misread.test(text) ? `'${text}` : text;
}

/** The text without the apostrophe that `spreadsheetSafe`, or another program with the same care, put before it. */
export function asWritten(text: string): string {
  return text.startsWith("'") && (formula.test(text) || misread.test(text)) ? text.slice(1) : text;
}

/** Tells Excel that the text is UTF-8; to be written once, before the first line. */
export const byteOrderMark = '\ufeff';

/**
 * A line of CSV (RFC 4180) that no spreadsheet runs or rewrites. Every cell is quoted: where semicolons separate, an unquoted one would
 * begin a cell that nobody looked at.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${spreadsheetSafe(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}
