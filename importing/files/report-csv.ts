import { codeProperty } from './field-words.js';
import { byteOrderMark, csvLine } from './spreadsheet-safe.js';
import type { ReportRow } from '../row-states.js';
import type { SendableRow } from './checked-row.js';
import type { ImportProblem } from '../desk/import-views.js';
import { reportColumns } from './column-mapping.js';

/**
 * Yields the report of an import as CSV: the outcome of each row, then its fields under the service's names. The report
 * can be corrected and imported again: `guessMapping` skips the columns about the import, and `checkValue` removes the
 * protection against spreadsheets.
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

/** Returns the unique fields of profiles, the code first. */
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

const [rowColumn] = reportColumns;

/**
 * Yields the rows with their codes, including generated ones, as CSV for invitations and badges. It can be imported in
 * place of the file without codes.
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

/** Yields the problems of a file as CSV, one line each, safe to open in a spreadsheet. */
export async function* problemsCsv(problems: readonly ImportProblem[]): AsyncGenerator<string, void, undefined> {
  yield byteOrderMark + csvLine(['row', 'column', 'code', 'message']);
  for (const { row, column, code, message } of problems) yield csvLine([String(row), column ?? '', code, message]);
}
