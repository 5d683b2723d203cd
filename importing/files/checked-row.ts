/** Characters of a value. The service documents no maximum; 255 is what most databases allow for a name. */
export const maxValueLength = 255;

/** A registrant as sent: texts by field, in the order of the columns. */
export interface Profile {
  readonly attendeeCode: string;
  readonly [field: string]: string;
}

/** A problem that prevents the row from being sent. */
type ProblemCode =
  | 'missing-code'
  | 'duplicate-code'
  | 'duplicate-row' // of a file whose codes are generated
  | 'empty-name'
  | 'control-character'
  | 'too-long'
  | 'no-email-address'
  | 'too-few-cells'
  | 'too-many-cells'
  | 'error-cell'
  | 'date-in-code'
  | 'digits-lost'
  | 'nested-value'
  | 'not-an-object'
  | 'late-field';

/** A note about a value that is sent. */
type NoteCode = 'trimmed' | 'apostrophe-removed' | 'similar-code' | 'code-generated';

/** A problem or note about a row. The message is one sentence and never contains the cell's text. */
export interface Problem {
  /** See `RawRow`. */
  readonly row: number;
  /** Name of the column in the file; null: the whole row. */
  readonly column: string | null;
  readonly code: ProblemCode | NoteCode;
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
export const codesLostInText: ReadonlySet<string> = new Set<ProblemCode>([
  'control-character',
  'too-few-cells',
  'error-cell',
  'date-in-code',
  'digits-lost',
  'nested-value',
  'not-an-object',
  'late-field',
]);

export type CheckedRow = SendableRow | InvalidRow;

export function isSendable(row: CheckedRow): row is SendableRow {
  return 'profile' in row;
}

/** Codes that refer to one row only. */
type PlainCode = Exclude<ProblemCode | NoteCode, 'duplicate-code' | 'duplicate-row' | 'similar-code'>;

/** Messages without the cell's text. `RowCheck` builds the messages that refer to an earlier row. */
const problemWords: Readonly<Record<PlainCode, string>> = {
  'missing-code': 'The attendee code is missing; enter one, or have codes generated.',
  'empty-name': 'The name is empty; enter it.',
  'control-character': 'There is a character that cannot be seen (a control character); type the value again.',
  'too-long': `The value is longer than ${maxValueLength} characters; shorten it.`,
  'no-email-address': 'The value is not an e-mail address such as ada@example.com; correct it, or leave it empty.',
  'too-few-cells': 'The row has fewer cells than the header; look for a missing delimiter or a broken line.',
  'too-many-cells':
    'The row has more cells than the header; put values that hold the delimiter into quotation marks, and delete cells beyond the last column.',
  'error-cell': 'The cell holds an error or a formula without a result; enter the value.',
  'date-in-code': 'The spreadsheet holds this code as a date; format the column as text and enter the code again.',
  'digits-lost':
    'The number has more than 15 digits, of which the last may be lost; format the column as text and enter it again.',
  'nested-value': 'The value is a list or an object; enter text.',
  'not-an-object': 'The element is not an object; give one object for each registrant.',
  'late-field':
    'The element has a field that no element at the start of the file has; give the first element all fields, empty if necessary.',
  trimmed: 'White space around the value was removed.',
  'apostrophe-removed': 'The apostrophe that protects the value from spreadsheets was removed.',
  'code-generated': 'A code was generated.',
};

export function plainProblem(row: number, column: string | null, code: PlainCode): Problem {
  return { row, column, code, message: problemWords[code] };
}
