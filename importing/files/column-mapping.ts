import { fieldWords, foldWord, nameField, codeProperty } from './field-words.js';
import { isUnnamed } from './table.js';
import { RegistrantFileError } from './registrant-file.js';

export interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field that its cells are sent as; null: not sent. */
  readonly property: string | null;
  /** Whether the property was guessed: neither named by the person nor the header's own word. */
  readonly guessed: boolean;
}

/** What becomes of each column of a file, in the file's order. No two columns have the same property. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
}

/** What a person wants of columns, by name: a property, or null not to send the column. Also the form that is saved. */
export type MappingWishes = Readonly<Record<string, string | null>>;

/**
 * What each column is sent as. First what a person wishes; then headers that are field names; then headers that obviously mean one
 * (`E-MAIL` where the field is `Email`, `Full name`, `Ticket no.`), marked as guessed. Any other column is sent under its own
 * header, for nothing lists the fields of a pigeonhole: `unknownFields` names those to be confirmed. A column without a name, a
 * column of a report, or a second one for a field that is taken is not sent.
 * @param knownFields fields seen on the pigeonhole's attendees or in earlier imports
 * @throws {RegistrantFileError} kind `mapping` when a wish names a column that the file lacks, or two wish for one field
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

/** A known field that is written in another way, or that is of the same kind. */
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
 * Whether rows can be sent under this mapping at all.
 * @param codes whether rows must bring their code, or one is generated where it is missing
 * @throws {RegistrantFileError} kind `header` when the first row is a registrant, `mapping` when no column holds the code. Quotes no
 * header: where there is none, it would be a person's data.
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
      `No column is known to hold the attendee code; name it with --map "<column>=${codeProperty}", or have codes generated.`,
    );
  }
  if (sent.length === 0) throw new RegistrantFileError('mapping', 'No column is sent; map at least one.');
}

/**
 * Fields that were never seen on this pigeonhole or in earlier imports: the service ignores unknown names silently, so each is to be
 * confirmed by a person (or by looking at one imported row).
 */
export function unknownFields(mapping: ColumnMapping, knownFields: readonly string[]): readonly MappedColumn[] {
  const known = new Set([codeProperty, ...knownFields]);
  return mapping.columns.filter(({ property }) => property !== null && !known.has(property));
}

/** No word that names a field, and something that no header is: an address, a number, a date. */
function looksLikeRegistrant(columns: readonly MappedColumn[]): boolean {
  const isWord = ({ column, property, guessed }: MappedColumn) =>
    guessed || property === nameField || fieldWords.some(({ words }) => words.has(foldWord(column)));
  return !columns.some(isWord) && columns.some(({ column }) => isData(column));
}

function isData(cell: string): boolean {
  return /^\S+@\S+\.\S+$/.test(cell) || /^[+\d][\d\s()./:-]*$/.test(cell) || /^(?=.*\d.*\d)[A-Z0-9-]+$/.test(cell);
}

/**
 * What a person asks for on a command line: `Attendee code=attendeeCode` sends a column as a field, `Notes=` does not send it. The
 * last `=` separates, since headers hold more of them than field names do.
 * @throws {RegistrantFileError} kind `mapping` for a text without `=` or a column that is named twice
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
 * The columns of a report that are about the import and not the registrant. A report that is imported again is known by them, and they
 * are not sent. Changing a name would make older reports send it.
 */
export const reportColumns = [
  'Import row',
  'Import outcome',
  'Import field',
  'Import message',
  'Import request id',
] as const;

export function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
