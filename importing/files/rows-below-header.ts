import { columnsOf } from './header.js';
import { RegistrantFileError } from './registrant-file-error.js';
import type { Finding, RawRow } from './registrant-file.js';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<readonly RawRow[]>;
}

/**
 * Takes the first row that is not empty as header and brings every other to its width; wholly empty ones are left out, but counted.
 * @param shortRows whether a row may end early (`padded`: a sheet stores no empty cells) or is found wanting
 * @throws {RegistrantFileError} kind `empty` without any row below the header, once all are read; else see `columnsOf`
 */
export async function rowsBelowHeader(
  source: AsyncGenerator<readonly RawRow[], void, undefined>,
  shortRows: 'padded' | 'found',
): Promise<Table> {
  for (;;) {
    const next = await source.next();
    if (next.done === true) throw new RegistrantFileError('empty', 'The file holds no rows; export it again.');
    const at = next.value.findIndex(isFilled);
    if (at < 0) continue;
    const columns = columnsOf(next.value[at]!.values);
    return { columns, rows: batches(next.value.slice(at + 1), source, columns.length, shortRows) };
  }
}

async function* batches(
  first: readonly RawRow[],
  rest: AsyncGenerator<readonly RawRow[], void, undefined>,
  width: number,
  shortRows: 'padded' | 'found',
): AsyncGenerator<readonly RawRow[], void, undefined> {
  let empty = true;
  const bring = (rows: readonly RawRow[]) => rows.filter(isFilled).map((row) => broughtTo(width, row, shortRows));
  try {
    const start = bring(first);
    empty = start.length === 0;
    if (!empty) yield start;
    for await (const rows of rest) {
      const batch = bring(rows);
      if (batch.length === 0) continue;
      empty = false;
      yield batch;
    }
  } finally {
    await rest.return();
  }
  if (empty) throw new RegistrantFileError('empty', 'The file has a header and no row below it; export it again.');
}

function isFilled({ values, findings }: RawRow): boolean {
  return values.some((value) => value.trim() !== '') || (findings?.length ?? 0) > 0;
}

function broughtTo(width: number, { row, values, findings = [] }: RawRow, shortRows: 'padded' | 'found'): RawRow {
  const found: Finding[] = findings.filter(({ column }) => column === null || column < width);
  if (values.length < width) {
    if (shortRows === 'found') found.push({ column: null, kind: 'too-few-cells' });
    values = [...values, ...Array<string>(width - values.length).fill('')];
  } else if (values.length > width) {
    if (values.slice(width).some((value) => value.trim() !== '')) found.push({ column: null, kind: 'too-many-cells' });
    values = values.slice(0, width);
  }
  return found.length === 0 ? { row, values } : { row, values, findings: found };
}
