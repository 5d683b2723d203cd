import { codeProperty } from './field-words.js';
import { byteOrderMark, csvLine } from './spreadsheet-safe.js';
import type { ReportRow } from '../row-states.js';
import type { SendableRow } from './checked-row.js';
import type { ImportProblem } from '../desk/import-views.js';
import { reportColumns } from './column-mapping.js';

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

/** The problems of a file as CSV that a spreadsheet opens, and does not run: a line each. */
export async function* problemsCsv(problems: readonly ImportProblem[]): AsyncGenerator<string, void, undefined> {
  yield byteOrderMark + csvLine(['row', 'column', 'code', 'message']);
  for (const { row, column, code, message } of problems) yield csvLine([String(row), column ?? '', code, message]);
}
