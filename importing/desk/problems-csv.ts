import type { ImportProblem } from './import-views.js';
import { byteOrderMark, csvLine } from '../files/csv-line.js';

/** The problems of a file as CSV that a spreadsheet opens, and does not run: a line each. */
export async function* problemsCsv(problems: readonly ImportProblem[]): AsyncGenerator<string, void, undefined> {
  yield byteOrderMark + csvLine(['row', 'column', 'code', 'message']);
  for (const { row, column, code, message } of problems) yield csvLine([String(row), column ?? '', code, message]);
}
