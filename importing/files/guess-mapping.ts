import { codeProperty } from './column-mapping.js';
import type { ColumnMapping, MappedColumn, MappingWishes } from './column-mapping.js';
import { fieldWords, foldWord, nameField } from './field-words.js';
import { isUnnamed } from './header.js';
import { RegistrantFileError } from './registrant-file-error.js';
import { isReportColumn } from './report-columns.js';

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
