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
