export type FileFormat = 'csv' | 'xlsx' | 'json' | 'ndjson';

/** How a file is to be read, where looking at it does not say enough. */
export interface FileOptions {
  /** The file's own name, without a folder: its ending helps where the content is ambiguous. */
  readonly name: string;
  readonly format?: FileFormat;
  /** A name of the WHATWG Encoding Standard, such as `windows-1252` or `shift_jis`. By default found by looking. */
  readonly encoding?: string;
  /** One character between the cells of a CSV file. By default found by looking. */
  readonly delimiter?: string;
  /** The name of a sheet of an XLSX file. By default the first visible one. */
  readonly sheet?: string;
}

/** A file that is being read, once, in order. What it says of itself never quotes a cell below the header. */
export interface RegistrantFile {
  readonly format: FileFormat;
  /** The text's encoding as far as the rows read so far tell (a file of plain ASCII stays `utf-8`); null for XLSX. */
  readonly encoding: string | null;
  /** Between the cells of a CSV file; null for the others. */
  readonly delimiter: string | null;
  /** The sheet that is read and all that there are; null for the others. */
  readonly sheet: { readonly name: string; readonly all: readonly string[] } | null;
  /** The names in the header, trimmed; none is empty unless its column has no name, and no name stands twice. */
  readonly columns: readonly string[];
  /**
   * Batches of at most 1,000 rows, fewer where rows are long, without wholly empty ones. To be read once.
   * @throws {RegistrantFileError} where the file turns out to be damaged, too large, or not in its encoding
   */
  readonly rows: AsyncIterable<readonly RawRow[]>;
  /** Lets go of the source where `rows` is not begun; reading them, to the end or not, does so by itself. May be called always. */
  readonly close: () => Promise<void>;
}

/** A row as it stands in the file. */
export interface RawRow {
  /** As a spreadsheet counts: 1 is the file's first row, which is the header. Element n of a JSON list is row n + 1. */
  readonly row: number;
  /** Text as it stands, not trimmed, one for each column; '' where the row has no cell. */
  readonly values: readonly string[];
  /** What reading found about cells, in no order; absent when nothing. */
  readonly findings?: readonly Finding[];
}

/** Something about a cell, or a row, that its text does not show. */
export interface Finding {
  /** Index of the column; null: the whole row. */
  readonly column: number | null;
  readonly kind:
    | 'error-cell' // #N/A and the like
    | 'date-cell' // a spreadsheet holds it as a date
    | 'digits-lost' // a number of more digits than spreadsheets and JSON readers keep
    | 'nested-value' // an object or a list in JSON
    | 'not-an-object' // an element of a JSON list
    | 'late-field' // a field of JSON that stands in no earlier element
    | 'too-few-cells'
    | 'too-many-cells';
}

/** What is wrong with a file as a whole; the rows are judged by RowCheck. */
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
 * A file cannot be imported at all. The message is one sentence for the person who gave the file: what, where and what
 * to do. It never quotes a cell: a first row without a header is a person.
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
