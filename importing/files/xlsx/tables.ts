import type { RowMark } from '../registrant-file.js';
import { readXml, truth } from './xml-events.js';

/** A table of a sheet (Insert > Table in Excel), by its row numbers. */
export interface SheetTable {
  readonly firstRow: number;
  readonly lastRow: number;
  /** Number of rows at its start that are its header: 0 or 1. */
  readonly headerRows: number;
  /** Number of rows at its end that are its totals. */
  readonly totalsRows: number;
  /** Whether one of its columns is filtered. */
  readonly isFiltered: boolean;
}

/** Reads the part of a table (ECMA-376, part 1, 18.5.1.2). Undefined: it names no range. */
export async function readTable(content: AsyncIterable<Buffer>): Promise<SheetTable | undefined> {
  let table: SheetTable | undefined;
  await readXml(content, {
    open: (name, attribute) => {
      if (name === 'table') {
        const rows = /^\$?[a-z]{1,3}\$?(\d+)(?::\$?[a-z]{1,3}\$?(\d+))?$/i.exec(attribute('ref') ?? '');
        if (rows === null) return;
        table = {
          firstRow: Number(rows[1]),
          lastRow: Number(rows[2] ?? rows[1]),
          headerRows: Number(attribute('headerRowCount') ?? 1),
          totalsRows: Number(attribute('totalsRowCount') ?? 0),
          isFiltered: false,
        };
      } else if (name === 'filterColumn' && table !== undefined && !truth(attribute('hiddenButton'))) {
        table = { ...table, isFiltered: true };
      }
    },
    text: () => undefined,
    close: () => undefined,
  });
  return table;
}

/**
 * Returns what a sheet and its tables say of a row.
 * @param isHidden whether the sheet does not show the row
 * @param isFiltered whether the sheet itself is filtered, so that its hidden rows are those that a filter hides
 */
export function marksOf(
  row: number,
  { isHidden, isFiltered, tables }: { isHidden: boolean; isFiltered: boolean; tables: readonly SheetTable[] },
): readonly RowMark[] {
  const marks: RowMark[] = [];
  const around = tables.filter(({ firstRow, lastRow }) => row >= firstRow && row <= lastRow);
  if (isHidden) marks.push(isFiltered || around.some((table) => table.isFiltered) ? 'filtered' : 'hidden');
  if (around.some(({ firstRow, headerRows }) => row < firstRow + headerRows)) marks.push('table-header');
  if (around.some(({ lastRow, totalsRows }) => row > lastRow - totalsRows)) marks.push('total');
  return marks;
}
