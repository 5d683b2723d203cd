import { namesAField } from './field-words.js';
import { findCsvForm } from './csv-form.js';
import { readCsv } from './read-csv.js';
import { type JsonKind, readJson } from './read-json.js';
import { RegistrantFileError, type FileOptions, type RegistrantFile } from './registrant-file.js';
import { rowsBelowHeader } from './below-header.js';
import { findHeader, type IsName } from './find-header.js';
import { withTextDamage } from './text-damage.js';
import { knownEncoding, utf8Bytes, withoutPadding } from './utf8-bytes.js';
import { readXlsx } from './xlsx/read-xlsx.js';

/** Common files that are not tables, by their first bytes. */
const strangers: readonly { readonly starts: readonly number[]; readonly sentence: string }[] = [
  {
    starts: [0xd0, 0xcf, 0x11, 0xe0],
    sentence:
      'The file is an Excel file of the old kind (.xls) or locked by a password; save it as .xlsx without a password.',
  },
  { starts: [0x25, 0x50, 0x44, 0x46], sentence: 'The file is a PDF; export the list as CSV or XLSX.' },
  { starts: [0x1f, 0x8b], sentence: 'The file is compressed (gzip); unpack it and import what is in it.' },
];

/**
 * Whether the bytes are an archive (XLSX) or text. Throws for other known formats.
 * @param label name of the text's encoding; undefined: to be detected
 */
function findContainer(head: Buffer, label: string | undefined): 'archive' | 'text' {
  if (head.length === 0) throw new RegistrantFileError('empty', 'The file is empty; export it again.');
  const stranger = strangers.find(({ starts }) => starts.every((byte, index) => head[index] === byte));
  if (stranger !== undefined) throw new RegistrantFileError('not-a-table', stranger.sentence);
  if (head[0] === 0x50 && head[1] === 0x4b && head[2]! < 0x09) return 'archive'; // PK, then a small number
  if (head.includes(0) && !knownEncoding(head, label)?.startsWith('utf-16') && isBinary(head)) {
    throw new RegistrantFileError(
      'not-a-table',
      'The file is neither text nor XLSX; export the list as CSV, XLSX or JSON.',
    );
  }
  return 'text';
}

/** Share of control characters from which bytes are no text: a text may hold a NUL, and end with many. */
const maxControlShare = 0.05;

function isBinary(head: Buffer): boolean {
  let length = head.length;
  while (length > 0 && head[length - 1] === 0) length--;
  const controls = head
    .subarray(0, length)
    .filter((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  return controls.length > 3 && controls.length >= maxControlShare * length;
}

/** Common texts that are not tables, whatever the name of the file says. */
const textStrangers: readonly { readonly starts: RegExp; readonly sentence: string }[] = [
  {
    starts: /^<([a-z?]|!doctype|!--)/i,
    sentence: 'The file is a web page or XML, whatever its name says; save it as CSV or XLSX.',
  },
  {
    starts: /^BEGIN:VCARD/i,
    sentence: 'The file holds contacts (vCard) and no table; export the list as CSV or XLSX.',
  },
  {
    starts: /^BEGIN:VCALENDAR/i,
    sentence: 'The file is a calendar and no table; export the list of registrants as CSV or XLSX.',
  },
  {
    starts: /^\[(InternetShortcut|Desktop Entry)\]|^\{\s*"(url|doc_id)"\s*:\s*"https?:|^https?:\/\/\S+\s*$/i,
    sentence: 'The file is only a link; open it, and download the list itself as CSV or XLSX.',
  },
  {
    starts: /^TABLE\r?\n0,1\r?\n/,
    sentence:
      'The file is a table in the old format DIF; open it in a spreadsheet program, and save it as XLSX or CSV.',
  },
  {
    starts: /^ID;P/,
    sentence:
      'The file is a table in the old format SYLK; open it in a spreadsheet program, and save it as XLSX or CSV.',
  },
  { starts: /^\{\\rtf/, sentence: 'The file is a text document (RTF) and no table; save the list as CSV or XLSX.' },
  {
    starts: /^(MIME-Version|From|Return-Path|Received): /,
    sentence: 'The file is an e-mail or a web archive and no table; save the list in it as CSV or XLSX.',
  },
];

type TextKind = 'csv' | JsonKind;

/**
 * Detects the kind of a text from its start. If the start could also be a CSV header, the file's name decides.
 * @param head UTF-8 without a byte order mark
 */
function findTextKind(head: Buffer, name: string): TextKind {
  const start = head.toString('utf8').trimStart();
  if (start === '') throw new RegistrantFileError('empty', 'The file holds nothing but white space; export it again.');
  const stranger = textStrangers.find(({ starts }) => starts.test(start));
  if (stranger !== undefined) throw new RegistrantFileError('not-a-table', stranger.sentence);
  const isPlainly = /^(\[\s*)?\{\s*"[^"]*"\s*:/.test(start); // no CSV header starts like this
  if (!isPlainly && /\.(csv|tsv|txt)$/i.test(name)) return 'csv';
  if (/^\[\s*([[{\]"]|-?\d|$)/.test(start)) return 'json-list';
  if (/^\{\s*(["}]|$)/.test(start)) return isWrapped(start) ? 'json-in-data' : 'json-values';
  return 'csv';
}

/**
 * Whether an object is the envelope of a list and not the first registrant. An object longer than the head counts as an
 * envelope.
 */
function isWrapped(start: string): boolean {
  const end = endOfObject(start);
  if (end === undefined) return true;
  let value: Readonly<Record<string, unknown>>;
  try {
    value = JSON.parse(start.slice(0, end)) as Readonly<Record<string, unknown>>;
  } catch {
    return false; // parsing it as values reports where it is broken
  }
  if (Array.isArray(value['data'])) return true;
  const [list] = Object.entries(value).find(([, members]) => isListOfObjects(members)) ?? [];
  if (list === undefined || Object.keys(value).some(namesAField)) return false; // a registrant with a nested value
  throw new RegistrantFileError(
    'not-a-table',
    `The JSON is an object whose list is in ${JSON.stringify(list)}; give only the list, [{…}, …], or {"data": [{…}, …]}.`,
  );
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'object' && each !== null);
}

function endOfObject(text: string): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

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

interface Peeked {
  /** The first bytes: at least the requested number, unless the source is shorter. */
  readonly head: Buffer;
  /** All bytes including the head. Read it once. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Releases the source (a socket, a file) if `bytes` is not read to its end; a second call does nothing. */
  readonly release: () => Promise<void>;
}

/** Reads the start of a stream without consuming it. */
async function peek(source: AsyncIterable<Uint8Array>, atLeastBytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  let ended = false;
  while (length < atLeastBytes && !ended) {
    const next = await iterator.next();
    ended = next.done === true;
    if (next.done === true) break;
    chunks.push(asBuffer(next.value));
    length += next.value.byteLength;
  }
  const head = Buffer.concat(chunks);
  const release = async () => {
    // `bytes` cannot do this itself: a generator that was never started does not run its `finally`
    if (!ended) await iterator.return?.();
    ended = true;
  };
  return { head, bytes: headThenRest(head, ended ? undefined : iterator, release), release };
}

async function* headThenRest(
  head: Buffer,
  rest: AsyncIterator<Uint8Array> | undefined,
  release: () => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (head.length > 0) yield head;
    while (rest !== undefined) {
      const next = await rest.next();
      if (next.done === true) return;
      yield asBuffer(next.value);
    }
  } finally {
    await release();
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
