import { isAscii, isUtf8 } from 'node:buffer';
import { type EncodingGuess, fromWindows1252, guessEncoding } from './find-encoding.js';
import { RegistrantFileError } from './registrant-file.js';

/** A text converted to UTF-8. */
interface Utf8Text {
  /** Well-formed UTF-8 without a byte order mark; U+FFFD replaces bytes that are not in the encoding. Read it once. */
  readonly bytes: AsyncIterable<Buffer>;
  /**
   * Encoding of the source, judging by what was read so far: plain ASCII is `utf-8` until a later byte shows another.
   */
  readonly encoding: () => string;
  /** The guess, judging by what was read so far; null: the encoding is certain, or named by the person. */
  readonly guess: () => EncodingGuess | null;
}

/**
 * Converts a stream of text to UTF-8.
 *
 * Without a label, a byte order mark decides, or zeros in every second byte (UTF-16). Otherwise the bytes from the first
 * one beyond ASCII decide, all of them in files of usual length: if most of them are well-formed UTF-8, the text is
 * UTF-8, and only the characters with other bytes are broken; otherwise see `guessEncoding`.
 * @throws {RegistrantFileError} kind `encoding` for an unknown label
 */
export function utf8Bytes(source: AsyncIterable<Buffer>, head: Buffer, label?: string): Utf8Text {
  const encoding = knownEncoding(head, label);
  if (encoding === undefined) return detected(source);
  return { bytes: decoded(source, encoding), encoding: () => encoding, guess: () => null };
}

/**
 * Returns the encoding that the label names, otherwise that which the start of the text proves.
 * @throws {RegistrantFileError} kind `encoding` for an unknown label
 */
export function knownEncoding(head: Buffer, label?: string): string | undefined {
  return label === undefined ? (encodingOfMark(head) ?? utf16Order(head)) : canonicalLabel(label);
}

function encodingOfMark(head: Buffer): string | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Share of characters below 256 from which a text is UTF-16: delimiters, digits and line ends are more in any list. */
const minPlainShare = 0.1;
/** Share of other zeros that it may have at most. */
const maxOtherZeros = 0.02;

/** Returns the order of the bytes of UTF-16 without a mark, in which every second byte of a plain character is 0. */
function utf16Order(head: Buffer): string | undefined {
  const pairs = Math.floor(head.length / 2);
  const zeros = [0, 0];
  for (let at = 0; at < 2 * pairs; at++) if (head[at] === 0) zeros[at % 2]! += 1;
  for (const [high, encoding] of [
    [1, 'utf-16le'],
    [0, 'utf-16be'],
  ] as const) {
    if (pairs > 3 && zeros[high]! >= minPlainShare * pairs && zeros[1 - high]! <= maxOtherZeros * pairs)
      return encoding;
  }
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

/** Bytes from the first one beyond ASCII that decide on the encoding: some 100,000 people. They are kept in memory. */
const decidingBytes = 16 * 1024 * 1024;

function detected(source: AsyncIterable<Buffer>): Utf8Text {
  let encoding = 'utf-8';
  let guess: EncodingGuess | null = null;
  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    const rest = source[Symbol.asyncIterator]();
    try {
      const deciding: Buffer[] = [];
      let length = 0;
      let isLast = false;
      while (!isLast && length < decidingBytes) {
        const next = await rest.next();
        isLast = next.done === true;
        if (next.done === true) break;
        if (length === 0 && isAscii(next.value)) yield next.value;
        else length += deciding[deciding.push(next.value) - 1]!.length;
      }
      if (length === 0) return;
      const start = Buffer.concat(deciding.splice(0));
      if (!isMostlyUtf8(start, isLast)) {
        guess = guessEncoding(start);
        ({ encoding } = guess);
      }
      yield* decoded(startThenRest(start, isLast ? undefined : rest), encoding);
    } finally {
      await rest.return?.();
    }
  }
  return { bytes: bytes(), encoding: () => encoding, guess: () => guess };
}

async function* startThenRest(
  start: Buffer,
  rest: AsyncIterator<Buffer> | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  yield start;
  for (let next = await rest?.next(); next?.done === false; next = await rest?.next()) yield next.value;
}

/** Number of well-formed characters to each broken one from which a text is UTF-8. Other encodings have up to 1 to 3. */
const wellFormedToBroken = 3;

/** Whether characters beyond ASCII are well-formed UTF-8, except a few. */
function isMostlyUtf8(bytes: Buffer, isWhole: boolean): boolean {
  if (isUtf8(bytes)) return true;
  let wellFormed = 0;
  let broken = 0;
  for (const character of bytes.toString('utf8')) {
    if (character === '\ufffd') broken++;
    else if (character > '\x7f') wellFormed++;
  }
  if (!isWhole && bytes.length > 0) broken--; // the last character may continue
  return wellFormed > 0 && wellFormed >= wellFormedToBroken * broken;
}

async function* decoded(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer, void, undefined> {
  if (encoding === 'windows-1252') {
    for await (const chunk of source) yield Buffer.from(fromWindows1252(chunk));
    return;
  }
  const decoder = new TextDecoder(encoding); // drops the byte order mark
  for await (const chunk of source) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield Buffer.from(text);
  }
  const end = decoder.decode();
  if (end !== '') yield Buffer.from(end);
}

/** Longest padding that is recognized. */
const maxPadding = 64 * 1024;

/** Removes NUL and 0x1A, the end-of-file character of DOS, from the end of a text. @param bytes UTF-8 */
export async function* withoutPadding(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let end = all.length;
    while (end > 0 && isPadding(all[end - 1]!)) end--;
    if (all.length - end > maxPadding) end = all.length;
    if (end > 0) yield all.subarray(0, end);
    held = all.subarray(end);
  }
  const rest = Buffer.from(held.filter((byte) => byte !== 0 && byte !== 0x1a));
  if (rest.length > 0) yield rest;
}

function isPadding(byte: number): boolean {
  return byte === 0 || byte === 0x1a || byte === 0x0a || byte === 0x0d || byte === 0x20;
}
