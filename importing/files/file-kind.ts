import { namesAField } from './field-words.js';
import type { JsonKind } from './json-elements.js';
import { RegistrantFileError } from './registrant-file.js';
import { knownEncoding } from './utf8-bytes.js';

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
export function findContainer(head: Buffer, label: string | undefined): 'archive' | 'text' {
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
export function findTextKind(head: Buffer, name: string): TextKind {
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
