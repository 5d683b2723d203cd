import { codeProperty } from './column-mapping.js';
import type { ColumnMapping } from './column-mapping.js';
import { checkValue } from './check-value.js';
import type { CheckedRow, Problem, Profile } from './checked-row.js';
import { isEmailField, isNameField } from './field-words.js';
import { generateCode } from './generate-code.js';
import { plainProblem } from './problem-words.js';
import type { Finding, RawRow } from './registrant-file.js';
import { SeenCodes } from './seen-codes.js';

export interface RowCheckOptions {
  readonly mapping: ColumnMapping;
  /** Given: rows without a code get one, see `generateCode`. */
  readonly codeKey?: Uint8Array;
}

interface SentColumn {
  readonly index: number;
  readonly column: string;
  readonly property: string;
  readonly isEmail: boolean;
}

/**
 * One `@` between a local part and a domain with a dot, and nothing that only stands around addresses. Wider than what mail
 * servers accept: only what is certainly no address is refused.
 */
const emailAddress = /^[^\s@<>(),;:"]+@[^\s@<>(),;:"]+\.[^\s@<>(),;:".]+$/;

/** A row while it is judged. */
interface Judged {
  readonly row: number;
  /** By property, the code first, as in the service's own example. */
  readonly fields: Map<string, string>;
  readonly problems: Problem[];
  readonly notes: Problem[];
}

/**
 * Judges the rows of one file, in its order: what is sent of each, or why it is not. Holds the codes that it has seen (see `SeenCodes`), so that a duplicate is told with the row that came first. One object for one pass over one file.
 */
export class RowCheck {
  readonly #sent: readonly SentColumn[];
  readonly #code: SentColumn | undefined;
  /** Those that hold a name: a row with none of them is nobody. */
  readonly #names: readonly SentColumn[];
  readonly #codeKey: Uint8Array | undefined;
  readonly #seen = new SeenCodes();

  constructor({ mapping, codeKey }: RowCheckOptions) {
    this.#sent = mapping.columns.flatMap(({ column, property }, index) =>
      property === null ? [] : [{ index, column, property, isEmail: isEmailField(property) || isEmailField(column) }],
    );
    this.#code = this.#sent.find(({ property }) => property === codeProperty);
    this.#names = this.#sent.filter(({ property }) => isNameField(property));
    this.#codeKey = codeKey;
  }

  check(rows: readonly RawRow[]): CheckedRow[] {
    return rows.map((row) => this.#checkRow(row));
  }

  #checkRow(raw: RawRow): CheckedRow {
    const { row } = raw;
    const judged: Judged = { row, fields: new Map([[codeProperty, '']]), problems: [], notes: [] };
    for (const finding of raw.findings ?? []) this.#judgeFinding(finding, judged);
    for (const column of this.#sent) this.#judgeValue(column, raw.values[column.index] ?? '', judged);
    // a row of which a cell cannot be read, or which is shifted, is told that and not what follows from it
    const isReadable = (raw.findings ?? []).every(({ kind }) => kind === 'date-cell');
    this.#judgeName(judged, isReadable);
    this.#judgeCode(judged, isReadable);
    const values = Object.fromEntries(judged.fields);
    return judged.problems.length > 0
      ? { row, values: storable(values), problems: judged.problems }
      : { row, profile: values as Profile, notes: judged.notes };
  }

  #judgeFinding({ column, kind }: Finding, { row, problems }: Judged): void {
    const sent = this.#sent.find(({ index }) => index === column);
    if (column !== null && sent === undefined) return; // what is not sent may be what it likes
    if (kind !== 'date-cell') problems.push(plainProblem(row, sent?.column ?? null, kind));
    else if (sent !== undefined && sent === this.#code) problems.push(plainProblem(row, sent.column, 'date-in-code'));
  }

  #judgeValue(column: SentColumn, text: string, { row, fields, problems, notes }: Judged): void {
    const checked = checkValue(text, column === this.#code);
    fields.set(column.property, checked.value);
    for (const note of checked.notes) notes.push(plainProblem(row, column.column, note));
    if (checked.problem !== undefined) problems.push(plainProblem(row, column.column, checked.problem));
    else if (column.isEmail && checked.value !== '' && !emailAddress.test(checked.value)) {
      problems.push(plainProblem(row, column.column, 'no-email-address'));
    }
  }

  #judgeName({ row, fields, problems }: Judged, isReadable: boolean): void {
    const [first] = this.#names;
    if (first === undefined || !isReadable) return;
    if (this.#names.every(({ property }) => fields.get(property) === '')) {
      problems.push(plainProblem(row, first.column, 'empty-name'));
    }
  }

  /** Sees to the code: there, unlike any before, or generated. */
  #judgeCode(judged: Judged, isReadable: boolean): void {
    const { row, fields, problems, notes } = judged;
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
    if (problems.length > 0) return; // a code for what is to be corrected would not be the corrected row's code
    const code = generateCode(this.#codeKey, Object.fromEntries(fields));
    const earlier = this.#seen.add(code, row);
    if (earlier !== undefined) {
      problems.push(duplicateRow(row, earlier));
      return;
    }
    fields.set(codeProperty, code);
    notes.push(plainProblem(row, column, 'code-generated'));
  }

  /** Codes are told apart as they stand; those that a careless comparison takes for one are worth a word. */
  #judgeSimilar(code: string, { row, notes }: Judged): void {
    const folded = code.normalize('NFKC').toLowerCase();
    const mark = `\0${folded}`; // no code that may be sent begins so
    const similar = folded === code ? this.#seen.rowOf(mark) : (this.#seen.rowOf(folded) ?? this.#seen.add(mark, row));
    if (similar !== undefined) notes.push(similarCode(row, this.#code?.column ?? null, similar));
  }
}

/** Longest value of a row that is not sent: enough to see what is wrong with it. */
const keptLength = 1_000;

/** PostgreSQL takes neither NUL nor half a character, and a cell may hold a megabyte. */
function storable(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [
      field,
      value.slice(0, keptLength).replace(/[\0\p{Cs}]/gu, '\ufffd'),
    ]),
  );
}

function duplicateCode(row: number, column: string | null, earlier: number): Problem {
  const message = `The code stands already in row ${earlier}; give each registrant a code of their own.`;
  return { row, column, code: 'duplicate-code', message };
}

function duplicateRow(row: number, earlier: number): Problem {
  const message = `The row says the same as row ${earlier}; remove it, or enter a code of its own if it is another person.`;
  return { row, column: null, code: 'duplicate-row', message };
}

function similarCode(row: number, column: string | null, earlier: number): Problem {
  const message = `The code differs from the one in row ${earlier} only in upper and lower case or the form of letters; the service may take them for one.`;
  return { row, column, code: 'similar-code', message };
}
