import { byteOrderMark, csvLine } from './csv-line.js';
import { profileColumns, valuesOf } from './report-csv.js';
import { reportColumns } from './report-columns.js';
import type { SendableRow } from './checked-row.js';

const [rowColumn] = reportColumns;

/**
 * The rows with their codes, generated ones included, as CSV: for invitations and badges, and to be imported again in place of the file
 * that had none.
 * @param fields the fields that the import sends, in the file's order
 */
export async function* codesCsv(
  rows: AsyncIterable<readonly Pick<SendableRow, 'row' | 'profile'>[]>,
  fields: readonly string[],
): AsyncGenerator<string, void, undefined> {
  const columns = profileColumns(fields);
  yield byteOrderMark + csvLine([rowColumn, ...columns]);
  for await (const batch of rows) {
    yield batch.map(({ row, profile }) => csvLine([String(row), ...valuesOf(profile, columns)])).join('');
  }
}
