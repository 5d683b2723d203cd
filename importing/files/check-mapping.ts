import { codeProperty } from './column-mapping.js';
import type { ColumnMapping, MappedColumn } from './column-mapping.js';
import { fieldWords, foldWord, nameField } from './field-words.js';
import { RegistrantFileError } from './registrant-file-error.js';

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
