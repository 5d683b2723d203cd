import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { readLimits } from '../read-limits.js';
import { RegistrantFileError } from '../registrant-file-error.js';
import type { RawRow } from '../registrant-file.js';
import { RowBatch } from '../row-batch.js';

export interface CsvForm {
  readonly delimiter: string;
  /** Whether the first line is a hint for Excel and no row. */
  readonly skipFirstLine: boolean;
}

/**
 * The rows of a CSV text (RFC 4180, and what people make of it): quoted cells may hold delimiters and line ends; a quotation mark
 * within a cell that does not begin with one is text; lines end in LF, CRLF or CR, mixed if need be. Empty lines are handed on
 * as rows, so that counting them gives the row that a spreadsheet shows.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} kind `damaged` for a quotation mark that is never closed, `too-large` for a monstrous row
 */
export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  { delimiter, skipFirstLine }: CsvForm,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  const source = Readable.from(bytes, { objectMode: false });
  const parser = parse({
    delimiter,
    from_line: skipFirstLine ? 2 : 1,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: readLimits.recordBytes,
  });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let row = 0;
  const batch = new RowBatch();
  try {
    for await (const values of parser as AsyncIterable<string[]>) {
      row++;
      const full = batch.add({ row, values });
      if (full !== undefined) yield full;
    }
  } catch (error) {
    throw translated(error);
  } finally {
    source.destroy();
    parser.destroy();
  }
  yield batch.take();
}

/** Without the parser's error as cause: its message quotes the cell. */
function translated(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const row = Number(error['records'] ?? 0); // the parser's own count: rows that it held ready are gone with the error
  const after = row === 0 ? 'in the first row' : `after row ${row.toLocaleString('en')}`;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return new RegistrantFileError(
        'damaged',
        `A quotation mark that opens ${after} is never closed; close or remove it.`,
      );
    case 'CSV_MAX_RECORD_SIZE':
      return new RegistrantFileError(
        'too-large',
        `A row ${after} is longer than ${readLimits.recordBytes.toLocaleString('en')} bytes; look for a quotation mark that is never closed.`,
      );
    default:
      return new RegistrantFileError(
        'damaged',
        `The file cannot be read ${after} (${error.code}); save it again as CSV.`,
      );
  }
}
