import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { RegistrantFileError, type RawRow, readLimits } from './registrant-file.js';
import { inBatches } from './table.js';

interface CsvForm {
  readonly delimiter: string;
  /** Whether the first line is a hint for Excel and not a row. */
  readonly skipFirstLine: boolean;
}

/**
 * Yields the rows of a CSV text (RFC 4180 and its common variants). Quoted cells may contain delimiters and line ends;
 * a quotation mark inside an unquoted cell is text; lines end in LF, CRLF or CR, also mixed. Empty lines are rows as
 * well, so that row numbers match those of a spreadsheet.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} kind `damaged` for an unclosed quotation mark, `too-large` for a huge row
 */
export function readCsv(
  bytes: AsyncIterable<Buffer>,
  form: CsvForm,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  return inBatches(rowsOf(bytes, form));
}

async function* rowsOf(
  bytes: AsyncIterable<Buffer>,
  { delimiter, skipFirstLine }: CsvForm,
): AsyncGenerator<RawRow, void, undefined> {
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
  try {
    for await (const values of parser as AsyncIterable<string[]>) {
      row++;
      yield { row, values };
    }
  } catch (error) {
    throw translated(error);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/**
 * Converts an error of the parser. The parser's error is not kept as the cause, because its message quotes the cell.
 */
function translated(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const row = Number(error['records'] ?? 0); // the parser's count: rows in its buffer are lost with the error
  const after = row === 0 ? 'in the first row' : `after row ${row.toLocaleString('en')}`;
  const culprit = row === 0 ? 'The first row' : `A row ${after}`;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return new RegistrantFileError(
        'damaged',
        `A quotation mark that opens ${after} is never closed; close or remove it.`,
      );
    case 'CSV_MAX_RECORD_SIZE':
      return new RegistrantFileError(
        'too-large',
        `${culprit} is longer than ${readLimits.recordBytes.toLocaleString('en')} bytes; look for a quotation mark that is never closed.`,
      );
    default:
      return new RegistrantFileError(
        'damaged',
        `The file cannot be read ${after} (${error.code}); save it again as CSV.`,
      );
  }
}

/** Usual delimiters, the most common first. */
const candidates = [',', ';', '\t', '|'] as const;

/** Rows inspected. */
const sample = 50;

/**
 * Returns the delimiter of a CSV text: the one with which most rows have the same number of cells as the first; in a
 * tie, the one with the most cells, then the most common. A text without any has one column, and the result is `,`.
 * @param head the start of the text; its last row may be incomplete and only counts if it is the only one
 */
export function findDelimiter(head: string): string {
  let best = { delimiter: ',', share: 0, cells: 1 };
  for (const delimiter of candidates) {
    const counts = cellCounts(head, delimiter);
    const cells = counts[0] ?? 1;
    if (cells < 2) continue;
    const share = counts.filter((count) => count === cells).length / counts.length;
    if (share > best.share || (share === best.share && cells > best.cells)) best = { delimiter, share, cells };
  }
  return best.delimiter;
}

/** Returns the delimiter of Excel's hint, `sep=;` in the first line, which Excel does not show as a row. */
export function delimiterHint(head: string): string | undefined {
  return /^"?sep=([^\r\n])"?\r?\n/i.exec(head)?.[1];
}

/** Counts the cells of each non-empty row; delimiters and line ends within quotes do not count. */
function cellCounts(text: string, delimiter: string): number[] {
  const counts: number[] = [];
  let cells = 1;
  let quoted = false;
  let cellStart = 0;
  let rowStart = 0;
  for (let at = 0; at < text.length && counts.length < sample; at++) {
    const character = text[at]!;
    if (character === '"' && (quoted || at === cellStart)) quoted = !quoted;
    else if (quoted) continue;
    else if (character === delimiter) {
      cells++;
      cellStart = at + 1;
    } else if (character === '\n' || character === '\r') {
      if (at > rowStart) counts.push(cells);
      cells = 1;
      cellStart = rowStart = at + 1;
    }
  }
  if (counts.length === 0) counts.push(cells);
  return counts;
}
