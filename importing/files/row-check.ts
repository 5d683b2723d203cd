import { codeProperty, isEmailField, isNameField } from './field-words.js';
import type { ColumnMapping } from './column-mapping.js';
import { type CheckedRow, type Problem, type Profile, plainProblem, maxValueLength } from './checked-row.js';
import type { Finding, RawRow } from './registrant-file.js';
import { SeenCodes } from './seen-codes.js';
import { asWritten } from './spreadsheet-safe.js';
import { createHmac } from 'node:crypto';

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

export type ValueNote = 'trimmed' | 'apostrophe-removed';
export type ValueProblem = 'control-character' | 'too-long';

export interface CheckedValue {
  /** What is sent. */
  readonly value: string;
  readonly notes: readonly ValueNote[];
  readonly problem: ValueProblem | undefined;
}

/**
 * A cell's text as it is sent: without white space around it and without the apostrophe that keeps spreadsheets from running it.
 * Line ends within become LF. Control characters are a problem, in a code also line ends, tabs and what is invisible (a code with a
 * zero-width space cannot be typed); names may need invisible joiners (Persian, emoji).
 */
export function checkValue(text: string, isCode: boolean): CheckedValue {
  const notes: ValueNote[] = [];
  const trimmed = text.trim();
  if (trimmed !== text) notes.push('trimmed');
  const written = asWritten(trimmed);
  if (written !== trimmed) notes.push('apostrophe-removed');
  const value = written.includes('\r') ? written.replace(/\r\n?/g, '\n') : written;
  return { value, notes, problem: problemOf(value, isCode) };
}

function problemOf(value: string, isCode: boolean): ValueProblem | undefined {
  if (/\p{Cs}/u.test(value)) return 'control-character'; // half a character, which JSON can hold
  if (isCode ? /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) : /[^\P{Cc}\t\n]/u.test(value)) return 'control-character';
  // code points, so that a character beyond the 16-bit plane counts once
  if (value.length > maxValueLength && Array.from(value).length > maxValueLength) return 'too-long';
  return undefined;
}

/** No vowels (no words), no 0, 1, I, L, O (misread), no E (spreadsheets take 12E4 for a number). */
const alphabet = '23456789BCDFGHJKMNPQRSTVWXYZ';
const length = 12;

/**
 * A code for a registrant that has none: nobody guesses it without the key (57 bits), and the same registrant gets the same code each
 * time, so that importing a file again meets who is there already.
 * @param key kept by the caller, the same for all imports of a pigeonhole
 * @param fields what the row sends; their order does not matter, empty ones do not count
 */
export function generateCode(key: Uint8Array, fields: Readonly<Record<string, string>>): string {
  const content = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHmac('sha256', key).update('registrant code\n').update(JSON.stringify(content)).digest();
  let number = digest.readBigUInt64BE(0) * 2n ** 32n + BigInt(digest.readUInt32BE(8)); // 96 bits for 57: no letter is favoured
  let code = '';
  while (code.length < length) {
    code += alphabet[Number(number % BigInt(alphabet.length))];
    number /= BigInt(alphabet.length);
  }
  return code;
}
