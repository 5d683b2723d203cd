import { checkValue, type ValueKind } from './check-value.js';
import type { CodeEvidence } from '../../base/code-evidence.js';
import { CodeValues, type ShortCodes } from './code-values.js';
import { codeProperty, isEmailField, isNameField, isPhoneField } from './field-words.js';
import type { ColumnMapping } from './column-mapping.js';
import { type Finding, type RawRow, isNoted } from './registrant-file.js';
import { type CheckedRow, type Problem, type Profile, maxValueLength, plainProblem } from './checked-row.js';
import { asWritten } from '../../base/sheets/spreadsheet-safe.js';
import { unnamedColumn } from './table.js';
import { generateCode } from './generate-code.js';
import { SeenCodes } from './seen-codes.js';

interface RowCheckOptions {
  readonly mapping: ColumnMapping;
  /** If present, rows without a code get one, see `generateCode`. */
  readonly codeKey?: Uint8Array;
}

interface SentColumn {
  readonly index: number;
  readonly column: string;
  readonly property: string;
  readonly kind: ValueKind;
}

/** A column that holds the codes, or may hold them. */
interface WatchedColumn {
  readonly index: number;
  readonly values: CodeValues;
}

/** A row during the check. */
interface Judged {
  readonly row: number;
  /** Values by field, the code first, as in the service's own example. */
  readonly fields: Map<string, string>;
  readonly problems: Problem[];
  readonly notes: Problem[];
}

/**
 * Checks the rows of one file in order: what to send of each, or why not. Remembers codes (see `SeenCodes`), so that a
 * duplicate is reported with its first row. Use one object per pass over a file.
 */
export class RowCheck {
  readonly #sent: readonly SentColumn[];
  readonly #code: SentColumn | undefined;
  /** Columns with names: a row must have a value in at least one. */
  readonly #names: readonly SentColumn[];
  readonly #codeKey: Uint8Array | undefined;
  /** Number of columns of the header. */
  readonly #width: number;
  readonly #seen = new SeenCodes();
  readonly #watched: readonly WatchedColumn[];
  /** Whether it is open which column holds the codes: then no row can be sent. */
  readonly #isOpen: boolean;

  constructor({ mapping, codeKey }: RowCheckOptions) {
    this.#sent = mapping.columns
      .map((each, index) => ({ ...each, index }))
      .toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0)) // the parts of a joined field in their order
      .flatMap(({ index, column, property }) =>
        property === null ? [] : [{ index, column, property, kind: kindOf(property, column) }],
      );
    this.#watched = mapping.code.candidates.map((column) => ({
      index: mapping.columns.findIndex((each) => each.column === column),
      values: new CodeValues(column),
    }));
    this.#isOpen = mapping.code.basis === 'several';
    this.#code = this.#sent.find(({ property }) => property === codeProperty);
    this.#names = this.#sent.filter(({ property }) => isNameField(property));
    this.#codeKey = codeKey;
    this.#width = mapping.columns.length;
  }

  check(rows: readonly RawRow[]): CheckedRow[] {
    return rows.map((row) => this.#checkRow(row));
  }

  /** Evidence from the values so far about the columns that hold the codes, or may hold them. */
  get codeEvidence(): readonly CodeEvidence[] {
    return this.#watched.map(({ values }) => values.evidence);
  }

  /** The codes so far that have probably lost their leading zeros; null: none. */
  get shortCodes(): (ShortCodes & { readonly column: string }) | null {
    const [watched] = this.#code === undefined ? [] : this.#watched;
    const short = watched?.values.shortCodes ?? null;
    return short === null ? null : { ...short, column: watched!.values.column };
  }

  #checkRow(raw: RawRow): CheckedRow {
    const { row } = raw;
    const judged: Judged = { row, fields: new Map([[codeProperty, '']]), problems: [], notes: [] };
    for (const finding of raw.findings ?? []) this.#judgeFinding(finding, judged);
    for (const column of this.#sent) this.#judgeValue(column, raw.values[column.index] ?? '', judged);
    const isPerson = !(raw.findings ?? []).some(({ kind }) => isNoRegistrant(kind));
    for (const { index, values } of isPerson ? this.#watched : []) {
      values.add(
        index === this.#code?.index ? judged.fields.get(codeProperty)! : (raw.values[index] ?? '').trim(),
        row,
      );
    }
    // If a row is unreadable or its cells are shifted, report only that and not the problems that follow from it.
    const isReadable = (raw.findings ?? []).every(({ kind }) => isHarmless(kind));
    this.#judgeName(judged, isReadable);
    if (isPerson) this.#judgeCode(judged, isReadable);
    const values = Object.fromEntries(judged.fields);
    return judged.problems.length > 0
      ? { row, values: storable({ ...values, ...this.#extraCells(raw) }), problems: judged.problems }
      : { row, profile: values as Profile, notes: judged.notes };
  }

  /**
   * Returns the cells with content beyond the header, by position: without them, the row of the report would look
   * correct. A row may have thousands of empty cells.
   */
  #extraCells({ values }: RawRow): Record<string, string> {
    const extra = values
      .slice(this.#width)
      .map((text, n) => [unnamedColumn(this.#width + n), asWritten(text.trim())] as const);
    return Object.fromEntries(extra.filter(([, text]) => text !== ''));
  }

  #judgeFinding({ column, kind }: Finding, { row, problems, notes }: Judged): void {
    const sent = this.#sent.find(({ index }) => index === column);
    if (column !== null && sent === undefined) return; // a column that is not sent may have any content
    if (kind === 'calculated-on-load' || kind === 'zero-result') return; // a result, as far as can be known
    if (isNoted(kind)) notes.push(plainProblem(row, sent?.column ?? null, kind));
    else if (kind !== 'date-cell') problems.push(plainProblem(row, sent?.column ?? null, kind));
    else if (sent !== undefined && sent === this.#code) problems.push(plainProblem(row, sent.column, 'date-in-code'));
  }

  #judgeValue(column: SentColumn, text: string, { row, fields, problems, notes }: Judged): void {
    const checked = checkValue(text, column.kind);
    // a field that joins columns has the value of an earlier one
    const value = [fields.get(column.property) ?? '', checked.value].filter((part) => part !== '').join(' ');
    fields.set(column.property, value);
    for (const note of checked.notes) notes.push(plainProblem(row, column.column, note));
    const problem = checked.problem ?? (Array.from(value).length > maxValueLength ? 'too-long' : undefined);
    // the file reader may have found the same, such as a date in an XLSX file
    const isKnown = problems.some((known) => known.code === problem && known.column === column.column);
    if (problem !== undefined && !isKnown) problems.push(plainProblem(row, column.column, problem));
  }

  #judgeName({ row, fields, problems }: Judged, isReadable: boolean): void {
    const [first] = this.#names;
    if (first === undefined || !isReadable) return;
    if (this.#names.every(({ property }) => fields.get(property) === '')) {
      problems.push(plainProblem(row, first.column, 'empty-name'));
    }
  }

  /** Checks that the code exists and is unique, or generates it. */
  #judgeCode(judged: Judged, isReadable: boolean): void {
    const { row, fields, problems, notes } = judged;
    if (this.#isOpen) {
      problems.push(plainProblem(row, null, 'code-column'));
      return;
    }
    const column = this.#code?.column ?? null;
    const given = fields.get(codeProperty)!;
    if (given !== '') {
      const earlier = this.#seen.add(given, row);
      if (earlier !== undefined) problems.push(duplicateCode(row, column, earlier));
      else this.#judgeSimilar(given, judged);
      return;
    }
    const isNobody = [...fields.values()].every((value) => value === '');
    if (this.#codeKey === undefined || isNobody) {
      if (isReadable) problems.push(plainProblem(row, column, 'missing-code'));
      return;
    }
    if (problems.length > 0) return; // the corrected row would get a different code
    const code = generateCode(this.#codeKey, Object.fromEntries(fields));
    const earlier = this.#seen.add(code, row);
    if (earlier !== undefined) {
      problems.push(duplicateRow(row, earlier));
      return;
    }
    fields.set(codeProperty, code);
    notes.push(plainProblem(row, column, 'code-generated'));
  }

  /** Codes are compared exactly; adds a note if two differ only in case or letter form. */
  #judgeSimilar(code: string, { row, notes }: Judged): void {
    const folded = code.normalize('NFKC').toLowerCase();
    const mark = `\0${folded}`; // no valid code starts like this
    const similar = folded === code ? this.#seen.rowOf(mark) : (this.#seen.rowOf(folded) ?? this.#seen.add(mark, row));
    if (similar !== undefined) notes.push(similarCode(row, this.#code?.column ?? null, similar));
  }
}

/** Whether the cells of a row with this finding are none of a registrant, or may be those of another row. */
function isNoRegistrant(kind: Finding['kind']): boolean {
  return ['repeated-header', 'totals-row', 'stray-quote', 'within-quotes'].includes(kind);
}

/** Whether a finding leaves the row readable. */
function isHarmless(kind: Finding['kind']): boolean {
  return kind === 'date-cell' || kind === 'calculated-on-load' || kind === 'zero-result' || isNoted(kind);
}

/** Values of rows that are not sent are cut to this length, which is enough to see the problem. */
const keptLength = 1_000;

/** Makes values storable: PostgreSQL accepts neither NUL nor lone surrogates, and a cell may have a megabyte. */
function storable(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [
      field,
      value.slice(0, keptLength).replace(/[\0\p{Cs}]/gu, '\ufffd'),
    ]),
  );
}

function duplicateCode(row: number, column: string | null, earlier: number): Problem {
  const message = `The code is already in row ${earlier}; give each registrant a code of their own.`;
  return { row, column, code: 'duplicate-code', message };
}

function duplicateRow(row: number, earlier: number): Problem {
  const message = `The row is identical to row ${earlier}; remove it, or enter a code of its own if it is another person.`;
  return { row, column: null, code: 'duplicate-row', message };
}

function similarCode(row: number, column: string | null, earlier: number): Problem {
  const message = `The code differs from the one in row ${earlier} only in upper and lower case or the form of letters; the service may treat them as the same.`;
  return { row, column, code: 'similar-code', message };
}

function kindOf(property: string, column: string): ValueKind {
  if (property === codeProperty) return 'code';
  if (isEmailField(property) || isEmailField(column)) return 'email';
  if (isPhoneField(property) || isPhoneField(column)) return 'phone';
  return isNameField(property) ? 'name' : 'other';
}
