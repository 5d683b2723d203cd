import type { Ledger } from '../ledger/ledger.js';
import type { RowOutcome } from '../base/row-outcomes.js';
import { codeProperty } from './files/field-words.js';
import { reportColumns } from './files/report-columns.js';
import { byteOrderMark, csvLine } from '../base/sheets/spreadsheet-safe.js';
import { isUnnamed } from './files/table.js';
import type { SendableRow } from './files/checked-row.js';
import type { ImportProblem } from './desk/import-views.js';

export interface ReportRow {
  /** Row number as in a spreadsheet; 1 is the header. */
  readonly row: number;
  /** The values that were, or would have been, sent, by field. */
  readonly profile: Readonly<Record<string, string>>;
  readonly outcome: RowOutcome;
  /** The field of the problem, as the service or the file names it. */
  readonly field: string | null;
  /** The service's message, or the problems of the file. May quote the row, because it is for the owner of the file. */
  readonly message: string | null;
  readonly requestId: string | null;
  /** Whether the row has a problem that its text does not show, see `codesLostInText`. */
  readonly needsMark?: boolean;
}

/** A stored row. `profile` is as sent, or as read if the row is invalid; keys in canonical order. */
export interface StoredReportRow extends ReportRow {
  /** Problems of an invalid row, as staged. */
  readonly problems: readonly unknown[];
}

const pageRows = 1000;

/**
 * Yields the rows of an import in the order of the file, at most 1,000 at a time. For a running import, yields what is
 * known so far.
 */
export async function* importReport(
  ledger: Ledger,
  number: number,
  only: readonly RowOutcome[] | null = null,
): AsyncGenerator<StoredReportRow[], void, undefined> {
  const [row] = await ledger.db.query<{ last_row: number }>('select last_row from imports where number = $1', [number]);
  // Reads windows of row numbers. With a limit instead, the database would sort all remaining rows while it has no
  // statistics of the table.
  for (let after = 0; after < (row?.last_row ?? 0); after += pageRows) {
    const page = await readPage(ledger, number, after);
    const rows = only === null ? page : page.filter(({ outcome }) => only.includes(outcome));
    if (rows.length > 0) yield rows;
  }
}

type Row = Omit<StoredReportRow, 'profile' | 'problems'> & {
  readonly profile: string;
  readonly problems: string | null;
};

async function readPage(ledger: Ledger, number: number, after: number): Promise<StoredReportRow[]> {
  const rows = await ledger.db.query<Row>(
    `select * from (
       (select r.row_number as "row", r.profile::text as profile, case when r.outcome is not null then r.outcome
            when c.state = 'created' and c.last_row >= r.row_number then 'created'
            when i.state in ('done', 'cancelled') then 'cancelled' else 'waiting' end as outcome,
          r.field, r.message, coalesce(r.request_id, case when c.last_row >= r.row_number then c.request_id end) as "requestId",
          null::text as problems
        from registrants r join imports i on i.number = r.import
          left join lateral (select c.state, c.last_row, c.request_id from import_chunks c
            where c.import = r.import and c.round = r.round and c.first_row <= r.row_number
            order by c.first_row desc limit 1) c on true
        where r.import = $1 and r.row_number > $2 and r.row_number <= $2 + ${pageRows})
       union all
       (select w.row_number, w.profile::text, w.outcome, w.field, w.message, w.request_id, w.problems::text
        from import_rows w where w.import = $1 and w.row_number > $2 and w.row_number <= $2 + ${pageRows})
     ) as rows order by "row"`,
    [number, after],
  );
  return rows.map(({ profile, problems, ...row }) => ({
    ...row,
    profile: JSON.parse(profile) as Record<string, string>,
    problems: problems === null ? [] : (JSON.parse(problems) as unknown[]),
  }));
}

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
  for await (const portion of rows) {
    yield portion
      .map((row) => csvLine([...aboutImport(row), ...valuesOf(row.profile, columns), ...cellsBeyond(row, columns)]))
      .join('');
  }
}

/** Text of the cell that keeps a row from being sent until a person has corrected it. */
const mark = 'Delete this cell when the row is correct';

/**
 * Returns the cells beyond the header. They are the row's own, or a mark. The import refuses rows with such cells, so
 * a person who imports the report unchanged creates no registrant from a broken row.
 */
function cellsBeyond({ profile, needsMark }: ReportRow, columns: readonly string[]): string[] {
  const beyond = Object.keys(profile).filter((name) => isUnnamed(name) && !columns.includes(name));
  return needsMark === true ? [...valuesOf(profile, beyond), mark] : valuesOf(profile, beyond);
}

/** Returns the unique fields of profiles, the code first. */
function profileColumns(fields: readonly string[]): readonly string[] {
  return [...new Set([codeProperty, ...fields])];
}

function valuesOf(profile: Readonly<Record<string, string>>, columns: readonly string[]): string[] {
  return columns.map((column) => (Object.hasOwn(profile, column) ? profile[column]! : ''));
}

/** Returns the cells about the import, in the order of `reportColumns`. */
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
  for await (const portion of rows) {
    yield portion.map(({ row, profile }) => csvLine([String(row), ...valuesOf(profile, columns)])).join('');
  }
}

/** Yields the problems of a file as CSV, one line each, safe to open in a spreadsheet. */
export async function* problemsCsv(problems: readonly ImportProblem[]): AsyncGenerator<string, void, undefined> {
  yield byteOrderMark + csvLine(['row', 'column', 'code', 'message']);
  for (const { row, column, code, message } of problems) yield csvLine([String(row), column ?? '', code, message]);
}
