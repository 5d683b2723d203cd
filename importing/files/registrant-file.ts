import type { EncodingGuess } from './find-encoding.js';

/** Options for reading a file; the defaults are detected, and the format always is. */
export interface FileOptions {
  /** The file's name without a folder: its suffix helps if the content is ambiguous. */
  readonly name: string;
  /** A name of the WHATWG Encoding Standard, such as `windows-1252` or `shift_jis`. By default detected. */
  readonly encoding?: string | undefined;
  /** The character between the cells of a CSV file. By default detected. */
  readonly delimiter?: string | undefined;
  /** The name of a sheet of an XLSX file. By default the first visible one. */
  readonly sheet?: string | undefined;
  /** Names by which the header is recognized besides the usual ones: fields of the pigeonhole, columns of a mapping. */
  readonly names?: readonly string[] | undefined;
}

/** A file that is read once, in order. Its properties never quote a cell below the header. */
export interface RegistrantFile {
  readonly format: 'csv' | 'xlsx' | 'json' | 'ndjson';
  /** Returns the text's encoding, judging by the rows read so far (`utf-8` for plain ASCII); null for XLSX. */
  readonly encoding: () => string | null;
  /** The guess of a text's encoding, judging by the rows read so far; null: it is certain, or named by the person. */
  readonly encodingGuess: () => EncodingGuess | null;
  /** Delimiter of a CSV file; null for other formats. */
  readonly delimiter: string | null;
  /** Name of the sheet that is read; null for other formats. */
  readonly sheet: string | null;
  /** All sheets of a workbook, in the order of their tabs; null for other formats. */
  readonly sheets: readonly SheetName[] | null;
  /** Sentences about how the file was read, such as which row is the header. They quote no cell. */
  readonly remarks: readonly string[];
  /** The number of the header's row; null for JSON. */
  readonly headerRow: number | null;
  /** The trimmed, unique names of the header. */
  readonly columns: readonly string[];
  /**
   * Batches of at most 1,000 rows, fewer if rows are long, without empty rows. Read them once.
   * @throws {RegistrantFileError} if the file is damaged, too large, or not in its encoding
   */
  readonly rows: AsyncIterable<readonly RawRow[]>;
  /**
   * Releases the source if `rows` is never read; reading rows, even partly, does so automatically. Can be called at any
   * time.
   */
  readonly close: () => Promise<void>;
}

/** A sheet of a workbook. */
export interface SheetName {
  readonly name: string;
  readonly hidden: boolean;
}

/** A row as it is in the file. */
export interface RawRow {
  /** Row number as in a spreadsheet: 1 is the header. Element n of a JSON list is row n + 1. */
  readonly row: number;
  /** Untrimmed text of each column; '' if the row has no cell. After `too-many-cells`, also of the cells beyond. */
  readonly values: readonly string[];
  /** Findings about cells, unordered; absent if there are none. */
  readonly findings?: readonly Finding[];
  /** Properties that the workbook gives the row; absent if there are none. */
  readonly marks?: readonly RowMark[];
  /** Whether the text ends with this row without a line end, so that the row may have been cut. */
  readonly isUnterminated?: boolean;
}

/** A property that a workbook gives a row besides its cells. */
export type RowMark =
  | 'hidden' // by a person, or in a collapsed group
  | 'filtered' // hidden by a filter
  | 'table-header' // the header of a table
  | 'total'; // the totals of a table

/** A property of a cell or row that its text does not show. */
export interface Finding {
  /** Index of the column; null: the whole row. */
  readonly column: number | null;
  readonly kind:
    | 'error-cell' // #N/A and the like
    | 'no-result' // a formula without a stored result
    | 'not-calculated' // a formula whose result is 0 or '' in a workbook that is to be calculated when it is opened
    | 'calculated-on-load' // a formula with another result in such a workbook
    | 'zero-result' // a formula whose result is 0 in any other workbook
    | 'date-cell' // a spreadsheet holds it as a date
    | 'digits-lost' // a number with more digits than spreadsheets and JSON readers keep
    | 'nested-value' // an object or a list in JSON
    | 'not-an-object' // an element of a JSON list
    | 'repeated-field' // a JSON object has a field twice
    | 'late-field' // a JSON field that no element at the start of the file has
    | 'too-few-cells'
    | 'too-many-cells'
    | 'repeated-header' // the row has the names of the columns
    | 'totals-row' // the row sums up others
    | 'cells-missing' // only empty cells at the end of the row are missing
    | 'quotes-removed' // a program put the value into quotation marks that are not those of CSV
    | 'hidden-row' // the workbook hides the row
    | 'filtered-row' // a filter of the workbook hides the row
    | 'cancelled-row' // the file itself says that it was cancelled or refunded
    | 'broken-character' // bytes that are no character, or were none when the file was made
    | 'encoded-twice' // Ã© for é
    | 'stray-quote' // a quotation mark that neither opens nor closes a cell
    | 'within-quotes'; // the line lies between such a mark and the next one
}

const noted = ['cells-missing', 'quotes-removed', 'hidden-row', 'filtered-row', 'cancelled-row'] as const;

/** Whether a finding is only a note: the row is sent. */
export function isNoted(kind: Finding['kind']): kind is (typeof noted)[number] {
  return (noted as readonly string[]).includes(kind);
}

/** The problem of a file as a whole; `RowCheck` checks the rows. */
export type RegistrantFileErrorKind =
  | 'empty' // no bytes, or no row below the header
  | 'not-a-table' // binary, an old Excel file, a web page, …
  | 'damaged' // a supported format whose content is broken
  | 'encoding' // bytes that are not valid in the encoding
  | 'options' // a requested sheet or delimiter that the file cannot have
  | 'header' // no header, or one that cannot be used
  | 'mapping' // the mapping names columns that the file does not have, or two columns for one field
  | 'too-large'; // beyond one of `readLimits`

/**
 * A file cannot be imported. The message is one sentence: what, where and what to do. It never quotes a cell, because
 * without a header the first row is a person.
 */
export class RegistrantFileError extends Error {
  override readonly name = 'RegistrantFileError';

  constructor(
    readonly kind: RegistrantFileErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Limits of a file: far above any list of people, and low enough to protect the process. */
export const readLimits = {
  /** Columns of a header. */
  columns: 500,
  /** Characters of a column's name. */
  columnNameLength: 255,
  /**
   * Bytes of a CSV row or JSON element, so that an unclosed quotation mark does not load the whole file into memory.
   */
  recordBytes: 1024 * 1024,
  /** Bytes of JSON inspected for field names before the first row is returned. */
  fieldSearchBytes: 4 * 1024 * 1024,
  /** Bytes of an XLSX file, which is kept in memory because its table of contents is at its end. */
  archiveBytes: 64 * 1024 * 1024,
  /** Files in an XLSX archive. */
  archiveEntries: 10_000,
  /** Uncompressed bytes of all parts read from an archive (protects against zip bombs). */
  unfoldedBytes: 1024 * 1024 * 1024,
  /** Bytes of an XLSX file's shared strings, which are kept in memory. */
  sharedTextBytes: 96 * 1024 * 1024,
  /** Number of shared strings: each takes memory even if it is empty. */
  sharedTexts: 4_000_000,
  /** Characters of one XML token: a comment, a text, an attribute. A cell has at most 32,767. */
  xmlTokenLength: 1024 * 1024,
  /** Nesting depth of XML. */
  xmlDepth: 100,
  /** Relations of a part of an XLSX file, and sheets of a workbook. */
  relations: 10_000,
  sheets: 1_000,
  /** Styles of cells: Excel's own limit is 65,490. */
  styles: 100_000,
  /** Heap of the thread that reads a file. A million XLSX rows take a tenth of it. */
  heapMegabytes: 256,
  /** Computing time of the thread until a file is open, and for each batch of rows. */
  stepMs: 120_000,
  /** Characters of one cell of XLSX: Excel's own limit. */
  cellLength: 32_767,
} as const;

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
