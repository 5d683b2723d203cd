import type { RawRow } from './registrant-file.js';
import { RegistrantFileError } from './registrant-file.js';

/** Rows with content among which the header is searched. */
export const maxRowsAbove = 50;

/** Whether a cell is the name of a column: usual names, fields of the pigeonhole, columns of the mapping. */
export type IsName = (cell: string) => boolean;

/** The header among the first rows. */
export interface FoundHeader {
  /** Index among the rows. */
  readonly index: number;
  /** Number of cells that are known names. */
  readonly names: number;
  /** Whether the workbook or at least two known names say that it is the header. */
  readonly isEvident: boolean;
}

/**
 * Finds the header: the header of a table of the workbook; otherwise the row with the most known names, if the first row
 * has none or is the upper one of two rows of names; otherwise the first row.
 * @param rows the first rows with content, at least one
 * @throws {RegistrantFileError} kind `header` if rows above it are as wide as a person's, or all cells are in one
 */
export function findHeader(rows: readonly RawRow[], isName: IsName): FoundHeader {
  const names = rows.map(({ values }) => values.filter((cell) => isName(cell)).length);
  const marked = rows.findIndex(({ marks }) => marks?.includes('table-header') === true);
  if (marked >= 0 && names[marked]! > 0) return { index: marked, names: names[marked]!, isEvident: true };
  const best = names.indexOf(Math.max(...names));
  const isHeader =
    best === 0 ||
    (names[0] === 0
      ? names[best]! >= 2 || (names[best]! === 1 && filledOf(rows[best]!) === 1)
      : names[best]! >= 2 && best <= 2 && filledOf(rows[0]!) < filledOf(rows[best]!));
  if (!isHeader || names[best] === 0) {
    for (const row of rows) refuseUnsplit(row, isName);
    return { index: 0, names: names[0]!, isEvident: names[0]! >= 2 };
  }
  const width = filledOf(rows[best]!);
  const above = rows.slice(0, best).find((row) => filledOf(row) >= width && width > 1);
  if (above !== undefined) {
    throw new RegistrantFileError(
      'header',
      `Row ${rows[best]!.row} looks like the header, but row ${above.row} above it may be a registrant; put the header into the first row.`,
    );
  }
  return { index: best, names: names[best]!, isEvident: names[best]! >= 2 };
}

function filledOf({ values }: RawRow): number {
  return values.filter((value) => value.trim() !== '').length;
}

/** Refuses a table whose cells a spreadsheet program has left in one column. */
function refuseUnsplit({ row, values }: RawRow, isName: IsName): void {
  const filled = values.filter((value) => value.trim() !== '');
  if (filled.length !== 1) return;
  const delimiter = [',', ';', '\t', '|'].find(
    (each) => filled[0]!.split(each).filter((cell) => isName(cell)).length >= 2,
  );
  if (delimiter === undefined) return;
  throw new RegistrantFileError(
    'header',
    `Row ${row} has all names of columns in one cell, separated by ${JSON.stringify(delimiter)}; split the column in your spreadsheet program, and save the file again.`,
  );
}
