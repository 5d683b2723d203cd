/**
 * Starts of cells that spreadsheets execute. Source: OWASP, "CSV Injection"; East Asian keyboards type the wide forms.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

const month = '(jan|feb|mar|m\u00e4r|mrz|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])[a-z]*';

/**
 * Codes that spreadsheets read as a number or date: leading zeros, too many digits, powers of ten, days. After saving,
 * 00123 would be 123, which is another person.
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

/** Protects a cell with an apostrophe if a spreadsheet would execute or rewrite it. `asWritten` removes it. */
export function spreadsheetSafe(text: string): string {
  return formula.test(text) || misread.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe that `spreadsheetSafe` or another program has added. */
export function asWritten(text: string): string {
  return text.startsWith("'") && (formula.test(text) || misread.test(text)) ? text.slice(1) : text;
}

/** Marks the text as UTF-8 for Excel; write it once, before the first line. */
export const byteOrderMark = '\ufeff';

/** Returns a text as a quoted cell of CSV (RFC 4180) that no spreadsheet executes or rewrites. */
export function quotedText(text: string): string {
  return `"${spreadsheetSafe(text).replaceAll('"', '""')}"`;
}

/**
 * Formats a CSV line of texts. Every cell is quoted, because an unquoted semicolon would start an unprotected cell in some
 * locales.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quotedText).join(',')}\r\n`;
}
