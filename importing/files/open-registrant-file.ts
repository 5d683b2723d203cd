import { namesAField } from './field-words.js';
import { findCsvForm } from './csv-form.js';
import { readCsv } from './read-csv.js';
import { readJson } from './read-json.js';
import type { FileOptions, RegistrantFile } from './registrant-file.js';
import { rowsBelowHeader } from './below-header.js';
import { findHeader, type IsName } from './find-header.js';
import { withTextDamage } from './text-damage.js';
import { utf8Bytes, withoutPadding } from './utf8-bytes.js';
import { readXlsx } from './xlsx/read-xlsx.js';
import { findContainer, findTextKind } from './file-kind.js';
import { type Peeked, peek } from './peek.js';

/** Bytes inspected to detect format, encoding and delimiter. */
const headBytes = 64 * 1024;

/**
 * Opens a file of registrants and detects its format by its content, and by its name only if the content is ambiguous.
 * Reads up to the header; rows are read on demand, so that memory does not grow with them.
 * @param source the file's bytes, read once; released when the rows end or are abandoned
 * @throws {RegistrantFileError} one sentence for the person who gave the file
 */
export async function openRegistrantFile(
  source: AsyncIterable<Uint8Array>,
  options: FileOptions,
): Promise<RegistrantFile> {
  const peeked = await peek(source, headBytes);
  try {
    const isArchive = findContainer(peeked.head, options.encoding) === 'archive';
    const parts = await (isArchive ? openWorkbook(peeked.bytes, options) : openText(peeked, options));
    return { ...parts, rows: withTextDamage(parts.rows), close: peeked.release };
  } catch (error) {
    await peeked.release();
    throw error;
  }
}

type Parts = Omit<RegistrantFile, 'close'>;

async function openText({ head, bytes }: Peeked, options: FileOptions): Promise<Parts> {
  const text = utf8Bytes(bytes, head, options.encoding);
  const start = await peek(withoutPadding(text.bytes), headBytes);
  const kind = findTextKind(start.head, options.name);
  const shared = { encoding: text.encoding, encodingGuess: text.guess, sheet: null, sheets: null };
  if (kind === 'csv') {
    const form = findCsvForm(start.head.toString('utf8'), options.delimiter);
    const { rowsAbove, ...table } = await rowsBelowHeader(readCsv(start.bytes, form), {
      shortRows: 'found',
      isName: nameTest(options),
    });
    const remarks = headerRemarks(table.headerRow, rowsAbove);
    return { ...shared, format: 'csv', delimiter: form.delimiter, remarks, ...table };
  }
  const table = await readJson(start.bytes, kind);
  return {
    ...shared,
    format: kind === 'json-values' ? 'ndjson' : 'json',
    delimiter: null,
    headerRow: null,
    remarks: [],
    ...table,
  };
}

/** Returns a test for names of columns. */
function nameTest({ names = [] }: FileOptions): IsName {
  const own = new Set(names.map((name) => name.trim()));
  return (cell) => namesAField(cell) || own.has(cell.trim());
}

function headerRemarks(headerRow: number, rowsAbove: number): string[] {
  if (rowsAbove === 0) return [];
  const above = rowsAbove === 1 ? 'the row' : `the ${rowsAbove} rows`;
  return [`Row ${headerRow} was taken as the header; ${above} above it ${rowsAbove === 1 ? 'is' : 'are'} not read.`];
}

async function openWorkbook(bytes: AsyncIterable<Buffer>, options: FileOptions): Promise<Parts> {
  const isName = nameTest(options);
  const sheet = await readXlsx(
    bytes,
    options.sheet,
    ({ filled }) => filled.length > 1 && findHeader(filled, isName).isEvident,
  );
  const { rowsAbove, ...table } = await rowsBelowHeader(sheet.rows, { shortRows: 'padded', isName });
  const remarks = [...sheet.remarks, ...headerRemarks(table.headerRow, rowsAbove)];
  const { name, sheets } = sheet;
  return {
    format: 'xlsx',
    encoding: () => null,
    encodingGuess: () => null,
    delimiter: null,
    sheet: name,
    sheets,
    remarks,
    ...table,
  };
}
