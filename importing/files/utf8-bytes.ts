import { isAscii, isUtf8 } from 'node:buffer';
import { RegistrantFileError } from './registrant-file.js';

/** A text converted to UTF-8. */
interface Utf8Text {
  /** Well-formed UTF-8 without a byte order mark. Read it once. */
  readonly bytes: AsyncIterable<Buffer>;
  /**
   * Encoding of the source, judging by what was read so far: plain ASCII is `utf-8` until a later byte shows another.
   */
  readonly encoding: () => string;
}

/**
 * Converts a stream of text to UTF-8.
 *
 * Without a label, a byte order mark decides. Without a mark, the first characters beyond ASCII decide, wherever they
 * are: if they are well-formed UTF-8 (which Windows-1252 text rarely is), the text is UTF-8, otherwise Windows-1252.
 * @throws {RegistrantFileError} kind `encoding`: immediately for an unknown label, while reading for invalid bytes
 */
export function utf8Bytes(source: AsyncIterable<Buffer>, head: Buffer, label?: string): Utf8Text {
  const encoding = knownEncoding(head, label);
  if (encoding === undefined) return guessed(source);
  return {
    bytes: encoding === 'windows-1252' ? windows(source) : decoded(source, encoding),
    encoding: () => encoding,
  };
}

/**
 * Returns the encoding that the label names, otherwise that of a byte order mark at the start.
 * @throws {RegistrantFileError} kind `encoding` for an unknown label
 */
export function knownEncoding(head: Buffer, label?: string): string | undefined {
  return label === undefined ? encodingOfMark(head) : canonicalLabel(label);
}

function encodingOfMark(head: Buffer): string | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

function canonicalLabel(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    throw new RegistrantFileError(
      'encoding',
      `The encoding ${JSON.stringify(label)} is not known; give utf-8, windows-1252, or leave it out.`,
      {
        cause: error,
      },
    );
  }
}

function guessed(source: AsyncIterable<Buffer>): Utf8Text {
  let encoding: 'ascii' | 'utf-8' | 'windows-1252' = 'ascii';
  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    let rest: Buffer = Buffer.alloc(0); // the start of a character that the next chunk completes
    let offset = 0;
    for await (const chunk of source) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (encoding === 'ascii' && isAscii(all)) {
        yield all;
        offset += all.length;
        continue;
      }
      const whole = all.subarray(0, lengthOfWholeCharacters(all));
      if (encoding === 'ascii' && !isAscii(whole)) encoding = isUtf8(whole) ? 'utf-8' : 'windows-1252';
      if (encoding === 'windows-1252') {
        yield windows1252ToUtf8(all);
        rest = Buffer.alloc(0);
        continue;
      }
      if (!isUtf8(whole)) throw notIn('utf-8', offset);
      if (whole.length > 0) yield whole;
      offset += whole.length;
      rest = all.subarray(whole.length);
    }
    if (rest.length === 0) return;
    if (encoding === 'utf-8') throw notIn('utf-8', offset);
    encoding = 'windows-1252';
    yield windows1252ToUtf8(rest);
  }
  return { bytes: bytes(), encoding: () => (encoding === 'ascii' ? 'utf-8' : encoding) };
}

/** Returns the length without an incomplete UTF-8 character at the end. */
function lengthOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

async function* windows(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of source) yield windows1252ToUtf8(chunk);
}

async function* decoded(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true }); // drops the byte order mark
  let offset = 0;
  try {
    for await (const chunk of source) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield Buffer.from(text);
      offset += chunk.length;
    }
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw notIn(encoding, offset, error);
  }
}

function notIn(encoding: string, offset: number, cause?: unknown): RegistrantFileError {
  return new RegistrantFileError(
    'encoding',
    `The file is not valid ${encoding.toUpperCase()} from byte ${offset.toLocaleString('en')} or later; save it again as UTF-8, or set its encoding.`,
    { cause },
  );
}

/** Characters of the bytes 0x80 to 0x9F; five have none and stay unchanged. Source: WHATWG Encoding Standard. */
const high =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/**
 * Converts Windows-1252 to UTF-8. Not by TextDecoder, which reads these bytes as Latin-1 in some versions of Node 22
 * and 23 (nodejs/node 56542), so that a typographic apostrophe becomes a control character.
 */
function windows1252ToUtf8(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => high[character.charCodeAt(0) - 0x80]!);
  return Buffer.from(text);
}
