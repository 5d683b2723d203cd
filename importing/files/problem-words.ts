import type { NoteCode, Problem, ProblemCode } from './checked-row.js';
import { maxValueLength } from './check-value.js';

/** Those that are about one row alone. */
export type PlainCode = Exclude<ProblemCode | NoteCode, 'duplicate-code' | 'duplicate-row' | 'similar-code'>;

/** What a person is told, without the cell's text. Where an earlier row is part of it, `RowCheck` says it. */
const problemWords: Readonly<Record<PlainCode, string>> = {
  'missing-code': 'The attendee code is missing; enter one, or have codes generated.',
  'empty-name': 'The name is empty; enter it.',
  'control-character': 'There is a character that cannot be seen (a control character); type the value again.',
  'too-long': `The value is longer than ${maxValueLength} characters; shorten it.`,
  'no-email-address': 'The value is not an e-mail address such as ada@example.com; correct it, or leave it empty.',
  'too-few-cells': 'The row has fewer cells than the header; look for a missing delimiter or a broken line.',
  'too-many-cells': 'The row has more cells than the header; put values that hold the delimiter into quotation marks.',
  'error-cell': 'The cell holds an error or a formula without a result; enter the value.',
  'date-in-code': 'The spreadsheet holds this code as a date; format the column as text and enter the code again.',
  'digits-lost':
    'The number has more than 15 digits, of which the last may be lost; format the column as text and enter it again.',
  'nested-value': 'The value is a list or an object; give a text.',
  'not-an-object': 'The element is not an object; give one object for each registrant.',
  'late-field':
    'The element has a field that no element at the start of the file has; give the first element all fields, empty where need be.',
  trimmed: 'White space around the value was removed.',
  'apostrophe-removed': 'The apostrophe that protects the value from spreadsheets was removed.',
  'code-generated': 'A code was generated.',
};

export function plainProblem(row: number, column: string | null, code: PlainCode): Problem {
  return { row, column, code, message: problemWords[code] };
}
