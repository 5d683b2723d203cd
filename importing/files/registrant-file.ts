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
   * Portions of at most 1,000 rows, fewer if rows are long, without empty rows. Read them once.
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
  /** Computing time of the thread until a file is open, and for each portion of rows. */
  stepMs: 120_000,
  /** Characters of one cell of XLSX: Excel's own limit. */
  cellLength: 32_767,
} as const;
