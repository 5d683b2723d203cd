import { codeProperty } from './column-mapping.js';
import { byteOrderMark, csvLine } from './csv-line.js';
import { reportColumns } from './report-columns.js';
import type { ReportRow } from './report-row.js';

/**
 * The report of an import as CSV, a batch at a time: what became of each row, then its fields under the service's names, so that it
 * can be corrected and imported again as it is (`guessMapping` leaves the columns about the import out, `checkValue` takes away what
 * protects from spreadsheets).
 * @param fields the fields that the import sends, in the file's order
 */
export async function* reportCsv(
  rows: AsyncIterable<readonly ReportRow[]>,
  fields: readonly string[],
): AsyncGenerator<string, void, undefined> {
  const columns = profileColumns(fields);
  yield byteOrderMark + csvLine([...reportColumns, ...columns]);
  for await (const batch of rows) {
    yield batch.map((row) => csvLine([...aboutImport(row), ...valuesOf(row.profile, columns)])).join('');
  }
}

/** The fields of profiles, the code first, each once. */
export function profileColumns(fields: readonly string[]): readonly string[] {
  return [...new Set([codeProperty, ...fields])];
}

export function valuesOf(profile: Readonly<Record<string, string>>, columns: readonly string[]): string[] {
  return columns.map((column) => (Object.hasOwn(profile, column) ? profile[column]! : ''));
}

/** In the order of `reportColumns`. */
function aboutImport({ row, outcome, field, message, requestId }: ReportRow): string[] {
  return [String(row), outcome, field ?? '', message ?? '', requestId ?? ''];
}
