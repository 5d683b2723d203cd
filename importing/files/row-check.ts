import { checkValue, type ValueKind } from './check-value.js';
import type { CodeEvidence } from '../../base/code-evidence.js';
import { CodeValues, type ShortCodes } from './code-values.js';
import { codeProperty, isEmailField, isNameField, isPhoneField, type ColumnMapping } from './column-mapping.js';
import {
  type Finding,
  type RawRow,
  type CheckedRow,
  type Problem,
  type Profile,
  maxValueLength,
  isNoted,
  plainProblem,
} from './registrant-file.js';
import { asWritten, unnamedColumn } from './table.js';
import { createHmac, createHash } from 'node:crypto';

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

/** No vowels (no words), no 0, 1, I, L, O (misread), no E (spreadsheets read 12E4 as a number). */
const alphabet = '23456789BCDFGHJKMNPQRSTVWXYZ';
const length = 12;

/**
 * Generates a code for a registrant. Without the key, it cannot be guessed (57 bits). The same registrant always gets
 * the same code, so that importing a file again finds the existing registrants.
 * @param key stored by the caller, the same for all imports of a pigeonhole
 * @param fields the row's values; their order does not matter, empty ones do not count
 */
function generateCode(key: Uint8Array, fields: Readonly<Record<string, string>>): string {
  const content = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHmac('sha256', key).update('registrant code\n').update(JSON.stringify(content)).digest();
  let number = digest.readBigUInt64BE(0) * 2n ** 32n + BigInt(digest.readUInt32BE(8)); // 96 bits for a code of 57 bits, so that all letters are practically equally likely
  let code = '';
  while (code.length < length) {
    code += alphabet[Number(number % BigInt(alphabet.length))];
    number /= BigInt(alphabet.length);
  }
  return code;
}

const hashBytes = 12;
const bytesPerSlot = hashBytes + 4; // 4 bytes for the row number

/**
 * Remembers texts and the first row of each, in 21 to 43 bytes per text: a million codes take 34 MB, a fraction of a
 * Map of strings. Texts are compared by 96 bits of SHA-256; a collision among a million is less likely than 1 in 10^16.
 *
 * An open-addressing hash table with linear probing: a slot is free while its row is 0.
 */
class SeenCodes {
  #slots = 1024;
  #table = Buffer.alloc(this.#slots * bytesPerSlot);
  #count = 0;

  /** Returns the first row of the text. A new text is stored with this row (from 1), and the result is undefined. */
  add(text: string, row: number): number | undefined {
    if (4 * this.#count >= 3 * this.#slots) this.#grow();
    const hash = hashOf(text);
    const slot = this.#find(hash);
    const earlier = this.#rowAt(slot);
    if (earlier !== 0) return earlier;
    this.#put(slot, hash, row);
    this.#count++;
    return undefined;
  }

  /** Returns the first row of the text, or undefined; stores nothing. */
  rowOf(text: string): number | undefined {
    const row = this.#rowAt(this.#find(hashOf(text)));
    return row === 0 ? undefined : row;
  }

  #find(hash: Buffer): number {
    let slot = hash.readUInt32LE(0) % this.#slots;
    while (
      this.#rowAt(slot) !== 0 &&
      hash.compare(this.#table, slot * bytesPerSlot, slot * bytesPerSlot + hashBytes) !== 0
    ) {
      slot = (slot + 1) % this.#slots;
    }
    return slot;
  }

  #rowAt(slot: number): number {
    return this.#table.readUInt32LE(slot * bytesPerSlot + hashBytes);
  }

  #put(slot: number, hash: Buffer, row: number): void {
    hash.copy(this.#table, slot * bytesPerSlot);
    this.#table.writeUInt32LE(row, slot * bytesPerSlot + hashBytes);
  }

  #grow(): void {
    const before = this.#table;
    this.#slots *= 2;
    this.#table = Buffer.alloc(this.#slots * bytesPerSlot);
    for (let at = 0; at < before.length; at += bytesPerSlot) {
      const row = before.readUInt32LE(at + hashBytes);
      const hash = before.subarray(at, at + hashBytes);
      if (row !== 0) this.#put(this.#find(hash), hash, row);
    }
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, hashBytes);
}
