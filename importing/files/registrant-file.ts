export type FileFormat = 'csv' | 'xlsx' | 'json' | 'ndjson';

/** Options for reading a file; the defaults are detected. */
export interface FileOptions {
  /** The file's name without a folder: its suffix helps if the content is ambiguous. */
  readonly name: string;
  readonly format?: FileFormat;
  /** A name of the WHATWG Encoding Standard, such as `windows-1252` or `shift_jis`. By default detected. */
  readonly encoding?: string;
  /** The character between the cells of a CSV file. By default detected. */
  readonly delimiter?: string;
  /** The name of a sheet of an XLSX file. By default the first visible one. */
  readonly sheet?: string;
}

/** A file that is read once, in order. Its properties never quote a cell below the header. */
export interface RegistrantFile {
  readonly format: FileFormat;
  /** The text's encoding, judging by the rows read so far (`utf-8` for plain ASCII); null for XLSX. */
  readonly encoding: string | null;
  /** Delimiter of a CSV file; null for other formats. */
  readonly delimiter: string | null;
  /** The sheet that is read, and the names of all; null for other formats. */
  readonly sheet: { readonly name: string; readonly all: readonly string[] } | null;
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

/** A row as it is in the file. */
export interface RawRow {
  /** Row number as in a spreadsheet: 1 is the header. Element n of a JSON list is row n + 1. */
  readonly row: number;
  /** Untrimmed text of each column; '' if the row has no cell. */
  readonly values: readonly string[];
  /** Findings about cells, unordered; absent if there are none. */
  readonly findings?: readonly Finding[];
}

/** A property of a cell or row that its text does not show. */
export interface Finding {
  /** Index of the column; null: the whole row. */
  readonly column: number | null;
  readonly kind:
    | 'error-cell' // #N/A and the like
    | 'date-cell' // a spreadsheet holds it as a date
    | 'digits-lost' // a number of more digits than spreadsheets and JSON readers keep
    | 'nested-value' // an object or a list in JSON
    | 'not-an-object' // an element of a JSON list
    | 'late-field' // a JSON field that is in no earlier element
    | 'too-few-cells'
    | 'too-many-cells';
}

/** The problem of a file as a whole; `RowCheck` checks the rows. */
export type RegistrantFileErrorKind =
  | 'empty' // no byte, or no row beside the header
  | 'not-a-table' // binary, an old Excel file, a web page, …
  | 'damaged' // a kind that is read, broken
  | 'encoding' // bytes that the encoding does not have
  | 'options' // a sheet or delimiter that is asked for and cannot be
  | 'header' // none, or one that cannot be used
  | 'mapping' // columns that the file does not have, or two for one field
  | 'too-large'; // beyond a limit of `read-limits.ts`

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
