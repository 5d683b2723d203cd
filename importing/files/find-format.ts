import { encodingOfMark } from './utf8-bytes.js';
import { RegistrantFileError } from './registrant-file.js';

/** Files that are not tables but common, by their first bytes. */
const strangers: readonly { readonly starts: readonly number[]; readonly sentence: string }[] = [
  {
    starts: [0xd0, 0xcf, 0x11, 0xe0],
    sentence:
      'The file is an Excel file of the old kind (.xls) or locked by a password; save it as .xlsx without a password.',
  },
  { starts: [0x25, 0x50, 0x44, 0x46], sentence: 'The file is a PDF; export the list as CSV or XLSX.' },
  { starts: [0x1f, 0x8b], sentence: 'The file is compressed (gzip); unpack it and import what is in it.' },
];

/** Whether the bytes are an archive (XLSX) or text. Throws for other known formats. */
export function findContainer(head: Buffer): 'archive' | 'text' {
  if (head.length === 0) throw new RegistrantFileError('empty', 'The file is empty; export it again.');
  const stranger = strangers.find(({ starts }) => starts.every((byte, index) => head[index] === byte));
  if (stranger !== undefined) throw new RegistrantFileError('not-a-table', stranger.sentence);
  if (head[0] === 0x50 && head[1] === 0x4b && head[2]! < 0x09) return 'archive'; // PK, then a small number
  if (head.includes(0) && !encodingOfMark(head)?.startsWith('utf-16')) {
    throw new RegistrantFileError(
      'not-a-table',
      'The file is neither text nor XLSX; export the list as CSV, XLSX or JSON.',
    );
  }
  return 'text';
}

export type TextKind = 'csv' | 'json-list' | 'json-in-data' | 'json-values';

/**
 * Returns the kind of a text by its start; the file's name decides if a CSV header looks like JSON.
 * @param head UTF-8 without a byte order mark
 */
export function findTextKind(head: Buffer, name: string): TextKind {
  const start = head.toString('utf8').trimStart();
  if (start === '') throw new RegistrantFileError('empty', 'The file holds nothing but white space; export it again.');
  if (/^<(\?xml|!doctype|html|table|workbook)/i.test(start)) {
    throw new RegistrantFileError(
      'not-a-table',
      'The file is a web page or XML, whatever its name says; save it as CSV or XLSX.',
    );
  }
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
  try {
    const value = JSON.parse(start.slice(0, end)) as { data?: unknown };
    return Array.isArray(value.data);
  } catch {
    return false; // parsing it as values reports where it is broken
  }
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
