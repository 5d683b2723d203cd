import { type CodeEvidence, evidenceInWords } from '../../base/code-evidence.js';
import { RegistrantFileError } from './registrant-file.js';
import { codeProperty, nameField, fieldWords, isOfKind, isNameField, foldWord } from './field-words.js';
import type { MappedColumn, CodeColumn, ColumnMapping } from './column-mapping.js';
import { mappingError } from './mapping-wishes.js';

/** The columns from which people get a name. */
export interface NameColumns {
  /** Whether no column fills the field for the name, so that nobody would have one. */
  readonly missing: boolean;
  /** Columns that together are a name, the first name first. Empty: there is no such pair. */
  readonly parts: readonly string[];
}

/**
 * Returns whether a mapping gives people a name. A pigeonhole without attendees is taken to have the field of the
 * service's own example, `Name`.
 */
export function nameColumns({ columns }: Pick<ColumnMapping, 'columns'>, knownFields: readonly string[]): NameColumns {
  const sent = columns.flatMap(({ property }) => property ?? []);
  const hasName =
    sent.some((property) => isOfKind(property, 'name')) ||
    sent.some((property) => isNameField(property) && knownFields.includes(property)) ||
    (knownFields.length > 0 && !knownFields.some((field) => isOfKind(field, 'name')));
  const first = columns.find(({ column }) => isOfKind(column, 'firstname'))?.column;
  const last = columns.find(({ column }) => isOfKind(column, 'lastname'))?.column;
  return { missing: !hasName, parts: hasName || first === undefined || last === undefined ? [] : [first, last] };
}

/**
 * Returns why nothing may be created until a person has named the column of the codes; null: the column is certain.
 * Pure.
 * @param evidence of the candidates, in their order, from the whole file
 */
export function codeColumnDoubt({ basis }: CodeColumn, evidence: readonly CodeEvidence[]): string | null {
  const words = evidence.map((each) => `${JSON.stringify(each.column)} (${evidenceInWords(each)})`).join(', ');
  // The example is the column that most probably holds codes: many different values with digits.
  const worth = (each: CodeEvidence): number => (each.isDoubtful ? 0 : each.different * (1 + each.withDigit));
  const [first] = evidence.toSorted((a, b) => worth(b) - worth(a));
  const example = `--map "${first?.column ?? 'COLUMN'}=${codeProperty}"`;
  const isDoubtful = evidence.some((each) => each.isDoubtful);
  switch (basis) {
    case 'several':
      return `Several columns may hold the attendee codes: ${words}; name the right one, as in ${example}.`;
    case 'guessed':
      return isDoubtful
        ? `The column of the attendee codes is a guess, and its values do not look like codes: ${words}; name the right one with --map "COLUMN=${codeProperty}".`
        : `The column of the attendee codes is a guess: ${words}; if it is right, confirm it with ${example}.`;
    case 'named':
      return isDoubtful
        ? `The values in the column of the attendee codes do not look like codes: ${words}; name another column with --map "COLUMN=${codeProperty}", or confirm this one with ${example}.`
        : null;
    default:
      return null;
  }
}

/** Part of the message of `checkMapping` by which the command line recognizes it, to add its own options. */
export const noCodeColumn = 'pigeonpost did not recognise a column with the attendee code';

/**
 * Checks that rows can be sent with this mapping, or could be once the column of the codes is chosen.
 * @param codes whether rows must have a code, or missing ones are generated
 * @throws {RegistrantFileError} kind `header` if the first row is a registrant, `mapping` if no column has the code.
 *   The message does not quote the first row: if the file has no header, that row is personal data.
 */
export function checkMapping(mapping: ColumnMapping, codes: 'required' | 'generated'): void {
  if (mapping.code.basis !== 'none') return;
  const sent = mapping.columns.filter(({ property }) => property !== null);
  if (looksLikeRegistrant(mapping.columns)) {
    throw new RegistrantFileError(
      'header',
      'The first row looks like a registrant and not like names of columns; add a header such as "attendeeCode, Name".',
    );
  }
  if (codes === 'required') {
    throw mappingError(`${noCodeColumn}; rename that column to "${codeProperty}", or map it to that field.`);
  }
  if (sent.length === 0) throw mappingError('No column is sent; map at least one.');
}

/**
 * Returns the columns with fields that no attendee of this pigeonhole has. The service silently ignores unknown names,
 * so a person has to confirm each.
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
