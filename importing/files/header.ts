import { readLimits } from './read-limits.js';
import { RegistrantFileError } from './registrant-file-error.js';
import { asWritten } from './spreadsheet-safe.js';

/**
 * The names of the columns, from the cells of the header, as `checkValue` has cells. Empty cells at the end are no columns; one in between is called after its
 * place, such as `(column 3)`.
 * @throws {RegistrantFileError} kind `header` when no cell has a name or two have the same, `too-large` beyond the limits
 */
export function columnsOf(cells: readonly string[]): string[] {
  const names = cells.map(nameOf);
  while (names.at(-1) === '') names.pop();
  if (names.length === 0)
    throw new RegistrantFileError('header', 'The first row has no names of columns; add a header.');
  if (names.length > readLimits.columns) {
    throw new RegistrantFileError(
      'too-large',
      `The header has ${names.length} columns; ${readLimits.columns} are the most.`,
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
    const column = name === '' ? `(column ${place})` : name;
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

/** Without line ends and what cannot be seen: a zero-width space pasted along would make another field of it. */
function nameOf(cell: string): string {
  return asWritten(
    cell
      .replace(/\s+/g, ' ')
      .replace(/[\p{Cc}\p{Cs}\u200b\u2060]/gu, '')
      .trim(),
  );
}

/** Whether a name stands for a column without one. */
export function isUnnamed(column: string): boolean {
  return /^\(column \d+\)$/.test(column);
}
