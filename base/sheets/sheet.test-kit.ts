import type { Cell, Sheet, SheetColumn } from './sheet.js';

/** Returns a sheet with these rows, in batches of three. */
export function sheetOf(
  columns: readonly SheetColumn[],
  rows: readonly (readonly Cell[])[],
  { name = 'people', timezone = 'Europe/Berlin' } = {},
): Sheet {
  const batches = async function* (): AsyncGenerator<(readonly Cell[])[]> {
    for (let at = 0; at < rows.length; at += 3) yield rows.slice(at, at + 3);
  };
  return { name, timezone, columns, rows: batches() };
}

export async function* each<Item>(...items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** An endless sheet that counts the rows that were read from it. */
export function endlessSheet(
  row: readonly Cell[],
): Sheet & { readonly read: () => number; readonly isClosed: () => boolean } {
  let read = 0;
  let closed = false;
  const rows = async function* (): AsyncGenerator<(readonly Cell[])[]> {
    try {
      for (;;) {
        read += 100;
        yield Array.from({ length: 100 }, () => row);
      }
    } finally {
      closed = true;
    }
  };
  const columns = row.map((_, index) => ({ name: `column ${index}`, kind: 'text' as const }));
  return { name: 'endless', timezone: 'UTC', columns, rows: rows(), read: () => read, isClosed: () => closed };
}

/** Texts that a spreadsheet might execute, convert, refuse or cut. */
export const hostileTexts = [
  '=1+1',
  "=cmd|'/C calc'!A0",
  '+49 30 1',
  '-5',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  "'=1",
  '＝1',
  '00123',
  '1E5',
  '2026-01-02',
  'TRUE',
  'a\u0000b\u0001c\u001ad',
  '_x0041_',
  '_x005F_x0041_',
  'half \ud800 of a pair \udc00',
  '\ufffe\uffff',
  '<&">]]>',
  ' space ',
  'two\r\nlines',
  '\u202eright to left',
  '😀',
  ';,\t"quoted"',
] as const;
