import { lineAt, linesOf, looksLikeRow, plainCells, quotesIn, scanRecord } from './csv-record.js';
import type { CsvForm } from './csv-form.js';
import { RegistrantFileError, type RawRow, readLimits } from './registrant-file.js';
import { inPortions } from './row-portions.js';

/**
 * Yields the rows of a CSV text (RFC 4180 and its common variants). Quoted cells may contain delimiters and line ends;
 * blanks around their quotation marks are ignored; a pair of quotation marks inside an unquoted cell is text; lines end
 * in LF, CRLF or CR, also mixed. Empty lines are rows as well, so that row numbers match those of a spreadsheet.
 *
 * No line vanishes in a cell because of a stray quotation mark. If a mark is wrong, or a quoted cell holds lines that
 * look like rows of the table, each line becomes a row: those that are certainly rows are read, and the others have a
 * finding.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} kind `too-large` for a huge row
 */
export function readCsv(
  bytes: AsyncIterable<Buffer>,
  form: CsvForm,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  return inPortions(rowsOf(bytes, form));
}

async function* rowsOf(bytes: AsyncIterable<Buffer>, form: CsvForm): AsyncGenerator<RawRow, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const rows = new RowSplitter(form);
  for await (const chunk of bytes) yield* rows.split(decoder.decode(chunk, { stream: true }), false);
  yield* rows.split(decoder.decode(), true);
}

/** Lines among which a quotation mark is wrong. */
interface Suspicion {
  /** The cells of the first line. */
  readonly start: readonly string[];
  isFirst: boolean;
  /** Characters that are certainly concerned. */
  left: number;
  /** Whether the quotation marks so far are not in pairs, so that a cell may continue. */
  isOpen: boolean;
  /** Lines in succession that are certainly rows. */
  rows: number;
}

/** Rows in succession after which an open cell is no longer assumed. */
const provingRows = 3;

/** Cuts a text that arrives in pieces into rows. */
class RowSplitter {
  readonly #form: CsvForm;
  #text = '';
  /** Start of the next record in the text. */
  #at = 0;
  /** Length from which scanning is worthwhile: twice the length of a record that was not complete. */
  #needed = 0;
  #row = 0;
  #suspicion: Suspicion | undefined;

  constructor(form: CsvForm) {
    this.#form = form;
    if (form.skipsFirstLine) this.#row = -1;
  }

  *split(more: string, isEnd: boolean): Generator<RawRow, void, undefined> {
    this.#text += more;
    if (this.#text.length < this.#needed && !isEnd) return;
    while (this.#at < this.#text.length) {
      if (
        this.#suspicion === undefined ? !(yield* this.#record(isEnd)) : !(yield* this.#line(this.#suspicion, isEnd))
      ) {
        break;
      }
    }
    this.#text = this.#text.slice(this.#at);
    this.#at = 0;
    if (this.#text.length > readLimits.recordBytes) throw this.#tooLong();
    this.#needed = Math.min(2 * this.#text.length, readLimits.recordBytes + 1);
  }

  /** Takes a record. @returns whether there was one */
  *#record(isEnd: boolean): Generator<RawRow, boolean, undefined> {
    const record = scanRecord(this.#text, this.#at, { delimiter: this.#form.delimiter, isEnd });
    const end = record.kind === 'incomplete' ? this.#text.length : record.next;
    const isLong = end - this.#at > readLimits.recordBytes;
    if (record.kind === 'incomplete' && !isLong) return false;
    if (record.kind !== 'whole' || (record.isSpread && this.#holdsRows(record, this.#text.slice(this.#at, end)))) {
      const first = lineAt(this.#text, this.#at, isEnd);
      if (first === undefined || first.text.length > readLimits.recordBytes) throw this.#tooLong();
      const start = plainCells(first.text, this.#form.delimiter);
      this.#suspicion = {
        start,
        isFirst: true,
        left: Math.min(end - this.#at, readLimits.recordBytes),
        isOpen: false,
        rows: 0,
      };
      return true;
    }
    if (isLong) throw this.#tooLong();
    this.#at = record.next;
    yield* this.#numbered(record.values, record.isTerminated, record.hasStrayQuote ? 'stray-quote' : undefined);
    return true;
  }

  /** Whether the first line of a record looks like a row, and so does another one. */
  #holdsRows({ areAllQuoted }: { readonly areAllQuoted: boolean }, record: string): boolean {
    const { delimiter, width } = this.#form;
    if (areAllQuoted && width > 1) return false; // a mark too many would leave cells without any
    const [first = '', ...others] = linesOf(record);
    const start = plainCells(first, delimiter);
    return (
      start.length === width &&
      others.some((line) => {
        const own = scanRecord(line, 0, { delimiter, isEnd: true });
        if (own.kind === 'whole' && !own.hasStrayQuote) return looksLikeRow(own.values, start, width);
        return quotesIn(line) === 1 && looksLikeRow(plainCells(line, delimiter), start, width);
      })
    );
  }

  /** Takes a line as a row. @returns whether there was one */
  *#line(suspicion: Suspicion, isEnd: boolean): Generator<RawRow, boolean, undefined> {
    const { delimiter, width } = this.#form;
    const line = lineAt(this.#text, this.#at, isEnd);
    if (line === undefined) return false;
    const own = scanRecord(line.text, 0, { delimiter, isEnd: true });
    if (own.kind === 'whole' && !own.hasStrayQuote && looksLikeRow(own.values, suspicion.start, width)) {
      yield* this.#numbered(own.values, line.isTerminated);
      suspicion.rows++;
    } else {
      suspicion.rows = 0;
      const kind = line.text.trim() === '' ? undefined : suspicion.isFirst ? 'stray-quote' : 'within-quotes';
      yield* this.#numbered(plainCells(line.text, delimiter), line.isTerminated, kind);
    }
    if (quotesIn(line.text) % 2 === 1) suspicion.isOpen = !suspicion.isOpen;
    suspicion.isFirst = false;
    suspicion.left -= line.next - this.#at;
    this.#at = line.next;
    if (suspicion.left <= 0 && (!suspicion.isOpen || suspicion.rows >= provingRows)) this.#suspicion = undefined;
    return true;
  }

  *#numbered(
    values: readonly string[],
    isTerminated: boolean,
    kind?: 'stray-quote' | 'within-quotes',
  ): Generator<RawRow, void, undefined> {
    this.#row++;
    if (this.#row === 0) return; // the hint for Excel
    yield {
      row: this.#row,
      values,
      ...(kind !== undefined && { findings: [{ column: null, kind }] }),
      ...(!isTerminated && { isUnterminated: true }),
    };
  }

  #tooLong(): RegistrantFileError {
    return new RegistrantFileError(
      'too-large',
      `Row ${Math.max(1, this.#row + 1).toLocaleString('en')} is longer than ${readLimits.recordBytes.toLocaleString('en')} bytes; look for a missing line end.`,
    );
  }
}
