import { isUnnamed } from './table.js';
import { codeProperty, nameField, codeNames, codeHints, fieldWords, foldWord } from './field-words.js';
import { type MappingWishes, wishesByColumn } from './mapping-wishes.js';
import { isReportColumn } from './report-columns.js';

export interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field of the column; null: not sent. */
  readonly property: string | null;
  /** Whether the field was guessed: neither named by the person nor by the header. */
  readonly guessed: boolean;
  /** Position of the column's value in a field that joins several columns, from 0; absent: the column is the field. */
  readonly part?: number;
}

/** The column of the attendee codes, and how it is known. */
export interface CodeColumn {
  /**
   * - `mapped` a person or a saved mapping says so
   * - `named` the header names the field
   * - `guessed` the header often means the code and as often something else: a person has to confirm it
   * - `several` several headers may mean it: a person has to choose
   * - `none` no header means it
   */
  readonly basis: 'mapped' | 'named' | 'guessed' | 'several' | 'none';
  /** The columns in question: one, several, or none. */
  readonly candidates: readonly string[];
}

/** The mapping of a file's columns, in the file's order. Two columns have the same field only if it joins them. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
  readonly code: CodeColumn;
}

/**
 * Maps columns to fields: first as requested; then headers that are field names; then headers that obviously mean one
 * (`E-MAIL` for `Email`, `Full name`), marked as guessed. Any other column is sent under its own header, because no API
 * lists the fields of a pigeonhole; `unknownFields` returns those to confirm. Columns without a name, columns of a
 * report and a second column for the same field are not sent. Nothing is guessed between several columns that may hold
 * the code: none of them is sent.
 * @param knownFields fields seen on attendees of the pigeonhole
 * @throws {RegistrantFileError} kind `mapping` if a request names a missing column, or two name one field
 */
export function guessMapping(
  columns: readonly string[],
  knownFields: readonly string[],
  wishes: MappingWishes = {},
): ColumnMapping {
  const mapped = wishesByColumn(columns, wishes);
  const fields = [...new Set([nameField, ...knownFields])];
  const taken = new Set([...mapped.values()].flatMap(({ property }) => property ?? []));
  const open = columns.filter((column) => !mapped.has(column) && !isUnnamed(column) && !isReportColumn(column));
  const code = findCodeColumn(mapped, open, fields);
  const [candidate] = code.candidates;
  if (code.basis === 'named' || code.basis === 'guessed') {
    mapped.set(candidate!, { column: candidate!, property: codeProperty, guessed: code.basis === 'guessed' });
  }
  if (code.basis === 'several') {
    for (const column of code.candidates) mapped.set(column, { column, property: null, guessed: true });
  }
  taken.add(codeProperty);
  for (const guess of [exactField, likelyField, ownName]) {
    for (const column of open) {
      if (mapped.has(column)) continue;
      const property = guess(column, fields);
      if (property === undefined || taken.has(property)) continue;
      taken.add(property);
      mapped.set(column, { column, property, guessed: property !== column });
    }
  }
  return { columns: columns.map((column) => mapped.get(column) ?? { column, property: null, guessed: true }), code };
}

/**
 * Finds the column of the attendee codes. A header that names the field wins, wherever it stands: first the field's own
 * name, then that name in another spelling, then in other words.
 */
function findCodeColumn(
  mapped: ReadonlyMap<string, MappedColumn>,
  open: readonly string[],
  fields: readonly string[],
): CodeColumn {
  const wished = [...mapped.values()].find(({ property }) => property === codeProperty);
  if (wished !== undefined) return { basis: 'mapped', candidates: [wished.column] };
  // A column that has the name of another known field holds that field.
  const free = open.filter((column) => !fields.some((field) => foldWord(field) === foldWord(column)));
  const names: readonly ((column: string) => boolean)[] = [
    (column) => column === codeProperty,
    (column) => foldWord(column) === foldWord(codeProperty),
    (column) => codeNames.has(foldWord(column)),
  ];
  for (const isName of names) {
    const named = free.filter(isName);
    if (named.length > 0) return { basis: named.length === 1 ? 'named' : 'several', candidates: named };
  }
  const hinted = free.filter((column) => codeHints.has(foldWord(column)));
  const basis = hinted.length === 0 ? 'none' : hinted.length === 1 ? 'guessed' : 'several';
  return { basis, candidates: hinted };
}

function exactField(column: string, fields: readonly string[]): string | undefined {
  return fields.find((field) => field === column);
}

/**
 * Returns the field that a column probably means: a known field with a different spelling, or the field of its kind.
 */
function likelyField(column: string, fields: readonly string[]): string | undefined {
  const word = foldWord(column);
  const written = fields.find((field) => foldWord(field) === word);
  if (written !== undefined) return written;
  const kind = fieldWords.find(({ words }) => words.has(word));
  if (kind === undefined || kind.property === codeProperty) return undefined;
  return kind.property ?? fields.find((field) => kind.words.has(foldWord(field)));
}

function ownName(column: string): string {
  return column;
}
