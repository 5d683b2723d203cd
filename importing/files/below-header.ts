import { isReportColumn } from './report-columns.js';
import { formOf } from './csv-record.js';
import { findHeader, type FoundHeader, type IsName, maxRowsAbove } from './find-header.js';
import { RegistrantFileError, type Finding, type RawRow } from './registrant-file.js';
import { columnsOf, type Table } from './table.js';

interface TableTerms {
  /**
   * `padded`: a short row is completed with empty cells, because a sheet does not store them; `found`: a short row gets a
   * finding, unless only empty cells at its end can be missing.
   */
  readonly shortRows: 'padded' | 'found';
  readonly isName: IsName;
}

/** A table with its header. */
export interface HeadedTable extends Table {
  readonly headerRow: number;
  /** Number of rows with content above the header, which are not read. */
  readonly rowsAbove: number;
}

/** The first rows of a source, and all of them again. */
export interface FirstRows {
  readonly filled: readonly RawRow[];
  readonly rows: AsyncGenerator<readonly RawRow[], void, undefined>;
}

/** Reads the rows among which the header is. */
export async function firstRows(source: AsyncGenerator<readonly RawRow[], void, undefined>): Promise<FirstRows> {
  const portions: (readonly RawRow[])[] = [];
  const filled: RawRow[] = [];
  while (filled.length < maxRowsAbove) {
    const next = await source.next();
    if (next.done === true) break;
    portions.push(next.value);
    filled.push(...next.value.filter(isFilled));
  }
  return { filled: filled.slice(0, maxRowsAbove), rows: thenRest(portions, source) };
}

async function* thenRest(
  portions: (readonly RawRow[])[],
  rest: AsyncGenerator<readonly RawRow[], void, undefined>,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  try {
    while (portions.length > 0) yield portions.shift()!;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/**
 * Finds the header and adjusts all rows below it to its width, except rows with too many cells. Empty rows are omitted
 * but count for row numbers. Rows that are no registrants get a finding: totals, and the header again.
 * @throws {RegistrantFileError} kind `empty`, after all rows were read, if there is none below the header; `header` for
 *   another header below; see also `findHeader` and `columnsOf`
 */
export async function rowsBelowHeader(
  source: AsyncGenerator<readonly RawRow[], void, undefined>,
  terms: TableTerms,
): Promise<HeadedTable> {
  const { filled, rows } = await firstRows(source);
  if (filled.length === 0) throw new RegistrantFileError('empty', 'The file holds no rows; export it again.');
  const found = findHeader(filled, terms.isName);
  const header = filled[found.index]!;
  if (header.findings?.some(({ kind }) => kind === 'stray-quote') === true) throw brokenHeader(header.row);
  const columns = namedColumns(header, found);
  return { columns, headerRow: header.row, rowsAbove: found.index, rows: portions(rows, header, columns, terms) };
}

function namedColumns(header: RawRow, { names }: FoundHeader): string[] {
  try {
    return columnsOf(header.values);
  } catch (error) {
    if (!(error instanceof RegistrantFileError) || names > 0 || !error.message.includes('the same name')) throw error;
    throw new RegistrantFileError(
      'header',
      `Row ${header.row} has no usual name of a column, and two equal cells: the file probably has no header; add one such as "attendeeCode, Name".`,
    );
  }
}

function brokenHeader(row: number): RegistrantFileError {
  return new RegistrantFileError(
    'header',
    `Row ${row}, which should name the columns, has a quotation mark too many or too few; correct it.`,
  );
}

async function* portions(
  source: AsyncGenerator<readonly RawRow[], void, undefined>,
  header: RawRow,
  columns: readonly string[],
  terms: TableTerms,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  const judge = new RowJudge(header, columns, terms);
  let empty = true;
  for await (const rows of source) {
    const below = rows.filter((row) => row.row > header.row && isFilled(row));
    const portion = below.map((row, index) => judge.judge(row, [below[index - 1], below[index + 1]]));
    if (portion.length === 0) continue;
    empty = false;
    yield portion;
  }
  if (empty) throw new RegistrantFileError('empty', 'The file has a header and no row below it; export it again.');
}

function isFilled({ values, findings }: RawRow): boolean {
  return values.some((value) => value.trim() !== '') || (findings?.length ?? 0) > 0;
}

/** Length up to which a cell below the header may be the name of a column. */
const maxNameLength = 40;

/** Forms of first cells that are remembered. */
const maxForms = 1_000;

/** Adjusts rows to the header, and finds those that are no registrants or that the file marks. */
class RowJudge {
  readonly #header: RawRow;
  readonly #width: number;
  readonly #terms: TableTerms;
  readonly #statusColumns: readonly number[];
  readonly #cancelColumns: readonly number[];
  /** Whether the file is the report of an import, whose values are as they were sent. */
  readonly #isReport: boolean;
  /** Forms of the first cells of whole rows. */
  readonly #forms = new Set<string>();

  constructor(header: RawRow, columns: readonly string[], terms: TableTerms) {
    this.#header = header;
    this.#width = columns.length;
    this.#terms = terms;
    this.#isReport = header.values.some((name) => isReportColumn(name));
    const indexes = (name: RegExp) => columns.flatMap((column, index) => (name.test(column) ? [index] : []));
    this.#statusColumns = indexes(statusName);
    this.#cancelColumns = indexes(cancelledName);
  }

  /** @param neighbours the rows before and after it in its portion */
  judge(row: RawRow, neighbours: readonly (RawRow | undefined)[]): RawRow {
    const found: Finding[] = (row.findings ?? []).filter(({ column }) => column === null || column < this.#width);
    const { row: number, marks } = row;
    let values = row.values;
    if (found.some(({ column }) => column === null)) return { row: number, values, findings: found };
    const kind = this.#strangeKind(row);
    if (kind !== undefined)
      return { row: number, values, findings: [{ column: null, kind }], ...(marks !== undefined && { marks }) };
    if (values.length < this.#width) {
      if (this.#terms.shortRows === 'found') found.push({ column: null, kind: this.#shortKind(row, neighbours) });
      values = [...values, ...Array<string>(this.#width - values.length).fill('')];
    } else {
      if (this.#forms.size < maxForms) this.#forms.add(formOf(values[0]!));
      if (values.length > this.#width) {
        // Cells beyond the header are kept for the report.
        const isWider = values.slice(this.#width).some((value) => value.trim() !== '');
        if (isWider) found.push({ column: null, kind: 'too-many-cells' });
        else values = values.slice(0, this.#width);
      }
    }
    values = values.map((value, column) => {
      const inside = this.#isReport ? value : withoutQuotes(value);
      if (inside !== value) found.push({ column, kind: 'quotes-removed' });
      return inside;
    });
    if (marks?.includes('filtered') === true) found.push({ column: null, kind: 'filtered-row' });
    else if (marks?.includes('hidden') === true) found.push({ column: null, kind: 'hidden-row' });
    if (this.#isCancelled(values)) found.push({ column: null, kind: 'cancelled-row' });
    return { row: number, values, ...(found.length > 0 && { findings: found }), ...(marks !== undefined && { marks }) };
  }

  #strangeKind(row: RawRow): 'repeated-header' | 'totals-row' | undefined {
    const { values, marks } = row;
    // A report has the values of its own columns beside those of the row.
    const isSame = this.#header.values.every(
      (name, index) => isReportColumn(name) || (values[index] ?? '').trim() === name.trim(),
    );
    if (isSame) return 'repeated-header';
    if (this.#isHeader(row)) {
      throw new RegistrantFileError(
        'header',
        `Row ${row.row} looks like a second header, with other columns than row ${this.#header.row}; import each part as a file of its own.`,
      );
    }
    return marks?.includes('total') === true || isTotals(values) ? 'totals-row' : undefined;
  }

  /** Whether at least half of the cells, and two, are names of columns. Stops early, because nearly all rows are none. */
  #isHeader({ values }: RawRow): boolean {
    let names = 0;
    let others = 0;
    for (const cell of values) {
      if (cell.trim() === '') continue;
      if (cell.length <= maxNameLength && !/[\d@]/.test(cell) && this.#terms.isName(cell)) names++;
      else others++;
      if (others > values.length / 2) return false;
    }
    return names >= 2 && names >= others;
  }

  /**
   * A program that omits the delimiters after the last value of a row leaves rows whose first cell has the usual form. A
   * row that a line end has cut in two leaves a short rest beside it, and a file that was cut ends without a line end.
   */
  #shortKind(row: RawRow, neighbours: readonly (RawRow | undefined)[]): 'cells-missing' | 'too-few-cells' {
    const isUsual = ({ values }: RawRow) => this.#forms.has(formOf(values[0]!)) && formOf(values[0]!).includes('9');
    const isRest = (other: RawRow | undefined) =>
      other !== undefined && other.values.length < this.#width && !isUsual(other) && !isTotals(other.values);
    const isComplete = row.values.length > 1 && row.isUnterminated !== true && isUsual(row);
    return isComplete && !neighbours.some(isRest) ? 'cells-missing' : 'too-few-cells';
  }

  #isCancelled(values: readonly string[]): boolean {
    return (
      this.#statusColumns.some((index) => cancelledValue.test(values[index] ?? '')) ||
      this.#cancelColumns.some((index) => !noValue.test((values[index] ?? '').trim()))
    );
  }
}

const statusName = /status|statut|estado|stato$|tila$|статус|状态|ステータス/i;
const cancelledName = /^(is |was )?(cancel|refund|storn|annul|geannul|rembours|rimbors|reembols)/i;
const cancelledValue =
  /^(?!not |nicht |non |un|in)\P{L}*(partially |teil|fully |voll)?(order |ticket )?(cancel|refund|storn|annul|geannul|rembours|rimbors|reembols|void|withdrawn|anulowan|zrušen|отмен|возвра|取消|已取消|退款|キャンセル)/iu;
const noValue = /^(|0([.,]0+)?|-|no|n|false|nein|non|nee|never|none|null|[0.,]+ ?(€|\$|EUR|USD))$/i;

const totalWords =
  'grand total|sub-?total|totals?|sum|summe|gesamt|gesamtsumme|gesamtzahl|insgesamt|zwischensumme|totale|somme|suma|totaal|summa|razem|celkem|итого|всего|合计|总计|合計|總計|합계';
const totalStart = new RegExp(`^(${totalWords})\\s*[:：]?\\s*(\\d.*)?$`, 'iu');

/** Whether a row sums up the others: a word for it, and beside it only numbers such as `12` and `3 people`. */
function isTotals(values: readonly string[]): boolean {
  const [first, ...others] = values.map((value) => value.trim()).filter((value) => value !== '');
  return first !== undefined && totalStart.test(first) && others.every((value) => /^[^\p{L}\d]*\d/u.test(value));
}

const quotePairs: readonly (readonly [string, string])[] = [
  ["'", "'"],
  ['\u201c', '\u201d'],
  ['\u201e', '\u201c'],
  ['\u2018', '\u2019'],
];

/** Removes quotation marks that a program put around a value and that are not those of CSV. */
function withoutQuotes(value: string): string {
  const text = value.trim();
  const pair = quotePairs.find(([open, close]) => text.length > 2 && text.startsWith(open) && text.endsWith(close));
  if (pair === undefined) return value;
  const inside = text.slice(1, -1);
  if (inside.includes(pair[0]) || inside.includes(pair[1])) return value;
  return inside.startsWith('=') ? value : inside;
}
