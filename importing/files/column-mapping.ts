import { fieldWords, foldWord, nameField, codeProperty } from './field-words.js';
import { isUnnamed } from './table.js';
import { RegistrantFileError } from './registrant-file.js';

interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field of the column; null: not sent. */
  readonly property: string | null;
  /** Whether the field was guessed: neither named by the person nor equal to the header. */
  readonly guessed: boolean;
}

/** The mapping of a file's columns, in the file's order. No two columns have the same field. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
}

/** Requested fields by column; null: do not send the column. Also the saved form. */
export type MappingWishes = Readonly<Record<string, string | null>>;

/**
 * Maps columns to fields: first as requested; then headers that are field names; then headers that obviously mean one
 * (`E-MAIL` for `Email`, `Full name`, `Ticket no.`), marked as guessed. Any other column is sent under its own header,
 * because no API lists the fields of a pigeonhole; `unknownFields` returns those to confirm. Columns without a name,
 * columns of a report and a second column for the same field are not sent.
 * @param knownFields fields seen on attendees of the pigeonhole or in earlier imports
 * @throws {RegistrantFileError} kind `mapping` if a request names a missing column, or two name one field
 */
export function guessMapping(
  columns: readonly string[],
  knownFields: readonly string[],
  wishes: MappingWishes = {},
): ColumnMapping {
  const wished = wishesByColumn(columns, wishes);
  const fields = [...new Set([codeProperty, nameField, ...knownFields])];
  const taken = new Set([...wished.values()].filter((property) => property !== null));
  const mapped = new Map<string, MappedColumn>();
  for (const [column, property] of wished) mapped.set(column, { column, property, guessed: false });
  for (const guess of [exactField, likelyField, ownName]) {
    for (const column of columns) {
      if (mapped.has(column)) continue;
      const property = isUnnamed(column) || isReportColumn(column) ? null : guess(column, fields);
      if (property === undefined || (property !== null && taken.has(property))) continue;
      if (property !== null) taken.add(property);
      mapped.set(column, { column, property, guessed: property !== null && property !== column });
    }
  }
  return { columns: columns.map((column) => mapped.get(column) ?? { column, property: null, guessed: true }) };
}

function exactField(column: string, fields: readonly string[]): string | undefined {
  return fields.find((field) => field === column);
}

/** Returns a known field that is spelled differently or is of the same kind. */
function likelyField(column: string, fields: readonly string[]): string | undefined {
  const word = foldWord(column);
  const written = fields.find((field) => foldWord(field) === word);
  if (written !== undefined) return written;
  const kind = fieldWords.find(({ words }) => words.has(word));
  if (kind === undefined) return undefined;
  return kind.property ?? fields.find((field) => kind.words.has(foldWord(field)));
}

function ownName(column: string): string {
  return column;
}

function wishesByColumn(columns: readonly string[], wishes: MappingWishes): Map<string, string | null> {
  const byColumn = new Map<string, string | null>();
  const properties = new Set<string>();
  for (const [name, property] of Object.entries(wishes)) {
    const column = columns.find((each) => each === name) ?? columns.find((each) => foldWord(each) === foldWord(name));
    if (column === undefined) {
      throw new RegistrantFileError(
        'mapping',
        `The mapping names a column ${JSON.stringify(name)}, which the file does not have; correct the name.`,
      );
    }
    if (byColumn.has(column)) {
      throw new RegistrantFileError(
        'mapping',
        `The mapping names the column ${JSON.stringify(column)} twice; leave one out.`,
      );
    }
    if (property !== null && properties.has(property)) {
      throw new RegistrantFileError(
        'mapping',
        `The mapping sends two columns as ${JSON.stringify(property)}; leave one of them out.`,
      );
    }
    if (property !== null) properties.add(property);
    byColumn.set(column, property);
  }
  return byColumn;
}

/**
 * Checks that rows can be sent with this mapping.
 * @param codes whether rows must have a code, or missing ones are generated
 * @throws {RegistrantFileError} kind `header` if the first row is a registrant, `mapping` if no column has the code.
 *   The message quotes no header, because without one it would be personal data.
 */
export function checkMapping(mapping: ColumnMapping, codes: 'required' | 'generated'): void {
  const sent = mapping.columns.filter(({ property }) => property !== null);
  if (sent.some(({ property }) => property === codeProperty)) return;
  if (looksLikeRegistrant(mapping.columns)) {
    throw new RegistrantFileError(
      'header',
      'The first row looks like a registrant and not like names of columns; add a header such as "attendeeCode, Name".',
    );
  }
  if (codes === 'required') {
    throw new RegistrantFileError(
      'mapping',
      `pigeonpost did not recognise a column with the attendee code; name it with --map "<column>=${codeProperty}", or have codes generated.`,
    );
  }
  if (sent.length === 0) throw new RegistrantFileError('mapping', 'No column is sent; map at least one.');
}

/**
 * Returns fields that were never seen on this pigeonhole or in earlier imports. The service silently ignores unknown
 * names, so a person has to confirm each.
 */
export function unknownFields(mapping: ColumnMapping, knownFields: readonly string[]): readonly MappedColumn[] {
  const known = new Set([codeProperty, ...knownFields]);
  return mapping.columns.filter(({ property }) => property !== null && !known.has(property));
}

/** Whether no cell of the header is a known field name, and one is clearly data: an address, a number or a date. */
function looksLikeRegistrant(columns: readonly MappedColumn[]): boolean {
  const isWord = ({ column, property, guessed }: MappedColumn) =>
    guessed || property === nameField || fieldWords.some(({ words }) => words.has(foldWord(column)));
  return !columns.some(isWord) && columns.some(({ column }) => isData(column));
}

function isData(cell: string): boolean {
  return /^\S+@\S+\.\S+$/.test(cell) || /^[+\d][\d\s()./:-]*$/.test(cell) || /^(?=.*\d.*\d)[A-Z0-9-]+$/.test(cell);
}

/**
 * Parses mappings of the command line: `Attendee code=attendeeCode` sends a column as a field, `Notes=` omits it. The
 * last `=` separates, because headers contain it more often than field names.
 * @throws {RegistrantFileError} kind `mapping` for a text without `=` or a column named twice
 */
export function parseMapping(flags: readonly string[]): MappingWishes {
  const wishes = new Map<string, string | null>();
  for (const flag of flags) {
    const at = flag.lastIndexOf('=');
    const column = flag.slice(0, Math.max(at, 0)).trim();
    if (column === '') {
      throw new RegistrantFileError(
        'mapping',
        `The mapping ${JSON.stringify(flag)} is not of the form "column=field".`,
      );
    }
    if (wishes.has(column)) {
      throw new RegistrantFileError(
        'mapping',
        `The mapping names the column ${JSON.stringify(column)} twice; leave one out.`,
      );
    }
    const property = flag.slice(at + 1).trim();
    wishes.set(column, property === '' ? null : property);
  }
  return Object.fromEntries(wishes);
}

/**
 * Columns of a report that describe the import and not the registrant. They are not sent when a report is imported again.
 * Do not rename them: the columns of older reports would then be sent.
 */
export const reportColumns = [
  'Import row',
  'Import outcome',
  'Import field',
  'Import message',
  'Import request id',
] as const;

function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
