import { RegistrantFileError, type RawRow, readLimits } from './registrant-file.js';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<readonly RawRow[]>;
}

/**
 * Returns the names of the columns, normalized like values. Empty cells at the end are not columns; an empty cell in
 * between is named after its position, such as `(column 3)`.
 * @throws {RegistrantFileError} kind `header` if no cell has a name or two have the same, `too-large` beyond the limits
 */
export function columnsOf(cells: readonly string[]): string[] {
  const names = cells.map(nameOf);
  while (names.at(-1) === '') names.pop();
  if (names.length === 0) throw new RegistrantFileError('header', 'The first row has no column names; add a header.');
  if (names.length > readLimits.columns) {
    throw new RegistrantFileError(
      'too-large',
      `The header has ${names.length} columns; at most ${readLimits.columns} are allowed.`,
    );
  }
  const places = new Map<string, number>();
  return names.map((name, index) => {
    const place = index + 1;
    if (name.length > readLimits.columnNameLength) {
      throw new RegistrantFileError(
        'header',
        `The name of column ${place} is longer than ${readLimits.columnNameLength} characters; shorten it.`,
      );
    }
    const column = name === '' ? unnamedColumn(index) : name;
    const earlier = places.get(column);
    if (earlier !== undefined) {
      throw new RegistrantFileError(
        'header',
        `Columns ${earlier} and ${place} have the same name; rename or remove one of them.`,
      );
    }
    places.set(column, place);
    return column;
  });
}

/** Removes line ends and invisible characters: a pasted zero-width space would make it another field. */
function nameOf(cell: string): string {
  return asWritten(
    cell
      .replace(/\s+/g, ' ')
      .replace(/[\p{Cc}\p{Cs}\u200b\u2060]/gu, '')
      .trim(),
  );
}

/** Returns the name of a column, or of a cell beyond the header, that has none. @param index from 0 */
export function unnamedColumn(index: number): string {
  return `(column ${index + 1})`;
}

/** Whether a column has no name of its own, so that it was named after its position. */
export function isUnnamed(column: string): boolean {
  return /^\(column \d+\)$/.test(column);
}

/** Rows per batch: enough for an efficient statement, few enough for memory. */
const rowsPerBatch = 1_000;

/** Characters after which a batch of long rows is full. */
const charactersPerBatch = 2 * 1024 * 1024;

/** Counted for each cell in addition to its text, because a row may have a million empty cells. */
const charactersPerCell = 8;

/** Collects rows into batches; the last one may be small. */
export async function* inBatches(rows: AsyncIterable<RawRow>): AsyncGenerator<readonly RawRow[], void, undefined> {
  let batch: RawRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    batch.push(row);
    for (const value of row.values) characters += value.length + charactersPerCell;
    if (batch.length < rowsPerBatch && characters < charactersPerBatch) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Digits that spreadsheets and JSON readers preserve; longer numbers lose their last digits. */
const digitsKept = 15;

interface PlainDecimal {
  readonly text: string;
  /** Whether the number is too long to be exact: a code or card number entered as a number. */
  readonly digitsLost: boolean;
}

/**
 * Formats a number as people write it: never in scientific notation, without rounding errors (0.1 + 0.2 is 0.3).
 * @param value finite
 */
export function plainDecimal(value: number): PlainDecimal {
  const digitsLost = Math.abs(value) >= 10 ** digitsKept;
  const rounded = digitsLost ? value : Number(value.toPrecision(digitsKept));
  return { text: withoutExponent(String(rounded)), digitsLost };
}

function withoutExponent(text: string): string {
  const found = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (found === null) return text === '-0' ? '0' : text;
  const [, sign = '', first = '', fraction = '', exponent = ''] = found;
  const digits = first + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point
    ? `${sign}${digits.padEnd(point, '0')}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

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

/**
 * Formats a CSV line (RFC 4180) that no spreadsheet executes or rewrites. Every cell is quoted, because an unquoted
 * semicolon would start an unprotected cell in some locales.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${spreadsheetSafe(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}
