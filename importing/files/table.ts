import { RegistrantFileError, type RawRow, readLimits } from './registrant-file.js';
import { asWritten } from '../../base/sheets/spreadsheet-safe.js';

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
