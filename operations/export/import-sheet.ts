import type { Cell, Sheet, SheetColumn } from '../../base/sheets/sheet.js';
import { codeProperty } from '../../importing/files/field-words.js';
import { readReport, reportFields } from '../../importing/desk/import-desk.js';
import { type ImportProgress, importsOf } from '../../importing/read-import.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { ExportedPlace } from './exported-place.js';
import { distinct } from './list-sheet.js';

export const importRowColumns = [
  { name: 'import', kind: 'number' },
  { name: 'startedAt', kind: 'moment' },
  { name: 'row', kind: 'number' },
  { name: 'outcome', kind: 'text' },
] as const satisfies readonly SheetColumn[];

/** Columns with what the file or the service says about a row, which may quote it. */
export const importProblemColumns = [
  { name: 'file', kind: 'text' },
  { name: 'field', kind: 'text' },
  { name: 'message', kind: 'text' },
  { name: 'requestId', kind: 'text' },
] as const satisfies readonly SheetColumn[];

/**
 * Returns the sheet of the rows of a pigeonhole's imports, oldest import first, each in the order of its file.
 * @param personal whether the rows themselves are shown, and not only their outcomes
 */
export async function importSheet(ledger: Ledger, place: ExportedPlace, personal: boolean): Promise<Sheet> {
  const imports = await importsOf(ledger, place.pigeonholeNumber);
  const fields = personal
    ? [...new Set([codeProperty, ...imports.flatMap(({ mapping }) => reportFields(mapping))])]
    : [];
  const shown = personal ? importProblemColumns : [];
  const columns = distinct([...importRowColumns, ...shown, ...fields.map((name) => ({ name, kind: 'text' as const }))]);
  const rows = async function* (): AsyncGenerator<Cell[][], void, undefined> {
    for (const each of imports) yield* rowsOf(ledger, each, { personal, fields });
  };
  return { name: 'import-rows', timezone: place.timezone, columns, rows: rows() };
}

async function* rowsOf(
  ledger: Ledger,
  { number, mapping, file, createdAt }: ImportProgress,
  { personal, fields }: { readonly personal: boolean; readonly fields: readonly string[] },
): AsyncGenerator<Cell[][], void, undefined> {
  for await (const batch of readReport(ledger, number, mapping)) {
    yield batch.map(({ row, outcome, field, message, requestId, profile }) => [
      number,
      { atMs: createdAt.getTime() },
      row,
      outcome,
      ...(personal ? [file, field, message, requestId] : []),
      ...fields.map((name) => (Object.hasOwn(profile, name) ? profile[name]! : null)),
    ]);
  }
}
