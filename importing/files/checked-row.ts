/** Characters of a value. The service documents no maximum; 255 is what most databases allow for a name. */
export const maxValueLength = 255;

/** A registrant as sent: texts by field, in the order of the columns. */
export interface Profile {
  readonly attendeeCode: string;
  readonly [field: string]: string;
}

/** A problem or note about a row. The message is one sentence and never contains the cell's text. */
export interface Problem {
  /** See `RawRow`. */
  readonly row: number;
  /** Name of the column in the file; null: the whole row. */
  readonly column: string | null;
  readonly code: PlainCode | 'duplicate-code' | 'duplicate-row' | 'similar-code';
  readonly message: string;
}

/** A row that may be sent. */
export interface SendableRow {
  readonly row: number;
  readonly profile: Profile;
  readonly notes: readonly Problem[];
}

/** A row that is not sent. */
export interface InvalidRow {
  readonly row: number;
  /**
   * The cells by field for the report; cells beyond the header under the names that `unnamedColumn` gives them.
   * Characters that PostgreSQL cannot store are replaced by U+FFFD, and values are cut after 1,000 characters.
   */
  readonly values: Readonly<Record<string, string>>;
  /** At least one. */
  readonly problems: readonly Problem[];
}

/**
 * Problems that the text of a row in a CSV does not show: without a mark, the service would accept the uncorrected row
 * of the report.
 */
export const codesLostInText: ReadonlySet<string> = new Set<PlainCode>([
  'control-character',
  'too-few-cells',
  'broken-character',
  'repeated-header',
  'totals-row',
  'stray-quote',
  'within-quotes',
  'error-cell',
  'no-result',
  'not-calculated',
  'date-in-code',
  'digits-lost',
  'scientific-number',
  'formula',
  'placeholder',
  'nested-value',
  'not-an-object',
  'repeated-field',
  'late-field',
]);

export type CheckedRow = SendableRow | InvalidRow;

export function isSendable(row: CheckedRow): row is SendableRow {
  return 'profile' in row;
}

/**
 * Messages without the cell's text, of problems and of notes about values that are sent. `RowCheck` builds the messages
 * that refer to an earlier row.
 */
const problemWords = {
  'missing-code': 'The attendee code is missing; enter one, or have codes generated.',
  'empty-name': 'The name is empty; enter it.',
  'control-character': 'There is a character that cannot be seen (a control character); type the value again.',
  'too-long': `The value is longer than ${maxValueLength} characters; shorten it.`,
  'no-email-address': 'The value is not an e-mail address such as ada@example.com; correct it, or leave it empty.',
  'too-few-cells': 'The row has fewer cells than the header; look for a missing delimiter or a broken line.',
  'too-many-cells':
    'The row has more cells than the header; put values that hold the delimiter into quotation marks, and delete cells beyond the last column.',
  'error-cell': 'The cell holds an error; enter the value.',
  'no-result':
    'The cell holds a formula without a result; open the file in a spreadsheet program, save it, and import it again.',
  'not-calculated':
    'The cell holds a formula that was not calculated; open the file in a spreadsheet program, save it, and import it again.',
  'repeated-header': 'The row repeats the names of the columns; remove it.',
  'totals-row': 'The row sums up the others and is no registrant; remove it.',
  'cells-missing': 'The last cells of the row are missing and were read as empty.',
  'quotes-removed': 'Quotation marks around the value were removed.',
  'hidden-row': 'The row is hidden in the spreadsheet.',
  'filtered-row': 'A filter of the spreadsheet hides the row.',
  'cancelled-row': 'The file marks the row as cancelled or refunded.',
  'broken-character': 'A character was lost when the file was made; type the value again.',
  'encoded-twice': 'Letters were encoded twice, such as é as Ã©; export the list again as UTF-8, or correct the value.',
  'stray-quote':
    'There is a quotation mark too many or too few; put quotation marks around the whole value, and write each one inside it twice.',
  'within-quotes':
    'The row follows a quotation mark that an earlier row opens and does not close; correct the quotation marks there.',
  'date-in-code':
    'A spreadsheet has probably changed this code to a date; format the column as text and enter the code again, or put an apostrophe before it if it is right.',
  'digits-lost':
    'The number has more than 15 digits, of which the last may be lost; format the column as text and enter it again.',
  'nested-value': 'The value is a list or an object; enter text.',
  'not-an-object': 'The element is not an object; give one object for each registrant.',
  'repeated-field': 'The element has a field twice, with one value each; keep the right one.',
  'late-field':
    'The element has a field that no element at the start of the file has; give the first element all fields, empty if necessary.',
  'scientific-number':
    'A spreadsheet has rounded this number (scientific notation); format the column as text and enter the value again.',
  formula: 'The cell holds a formula and not its result; enter the value.',
  placeholder: 'The code is a word or sign for a missing value; enter the code, or leave the cell empty.',
  'code-column': 'It is not certain which column holds the attendee codes; name it.',
  trimmed: 'White space around the value was removed.',
  'apostrophe-removed': 'The apostrophe that protects the value from spreadsheets was removed.',
  'invisible-removed': 'Characters that cannot be seen were removed.',
  'formula-removed': 'The formula that protects the value from spreadsheets was removed.',
  'decimals-removed': 'The decimals .0 that a spreadsheet or program has added were removed.',
  'hard-to-type':
    'The code has characters that most keyboards lack, such as a long dash or a letter of another alphabet; people may not be able to enter it.',
  'decimal-code': 'The code is a number with decimals, which a spreadsheet has probably written.',
  'html-codes': 'The value has HTML codes such as &amp; and is sent with them.',
  'code-generated': 'A code was generated.',
} as const;

export type PlainCode = keyof typeof problemWords;

export function plainProblem(row: number, column: string | null, code: PlainCode): Problem {
  return { row, column, code, message: problemWords[code] };
}
