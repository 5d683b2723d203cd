import { readLimits } from './read-limits.js';
import { RegistrantFileError } from './registrant-file.js';
import type { TextKind } from './find-format.js';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const newline = 0x0a;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Cuts a JSON text into its elements without parsing it as a whole, so that memory holds one element and not the file.
 * - `json-list`: `[…]`
 * - `json-in-data`: `{ …, "data": […], … }`; other members are skipped
 * - `json-values`: one value after the other (NDJSON), even over several lines
 *
 * Inspects only quotation marks, brackets and commas; the parser checks each element.
 * @param bytes UTF-8
 * @throws {RegistrantFileError} kind `damaged` if the text ends too early, `too-large` for a huge element
 */
export async function* splitElements(
  bytes: AsyncIterable<Buffer>,
  kind: Exclude<TextKind, 'csv'>,
): AsyncGenerator<Buffer, void, undefined> {
  const splitter = new Splitter(kind);
  for await (const chunk of bytes) {
    yield* splitter.split(chunk);
    if (splitter.done) return;
  }
  yield* splitter.end();
}

/**
 * before: outside the list · beside: in the envelope, before the list · elements: within the list · values: NDJSON.
 * before → elements, or before → beside → elements; values never changes.
 */
class Splitter {
  #phase: 'before' | 'beside' | 'elements' | 'values';
  /** Open brackets within the element, or within a member of the envelope. */
  #depth = 0;
  #quoted = false;
  #escaped = false;
  /** The element's bytes so far. */
  #parts: Buffer[] = [];
  #length = 0;
  #count = 0;
  done = false;

  constructor(kind: Exclude<TextKind, 'csv'>) {
    this.#phase = kind === 'json-values' ? 'values' : 'before';
  }

  *split(chunk: Buffer): Generator<Buffer, void, undefined> {
    let start = 0; // start of the element's bytes in this chunk
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#quoted) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#quoted = false;
        continue;
      }
      if (byte === quote) {
        this.#quoted = true;
      } else if (this.#phase === 'before') {
        if (byte === openList) this.#phase = 'elements';
        else if (byte === openObject) this.#phase = 'beside';
        start = at + 1;
      } else if (byte === openList || byte === openObject) {
        if (
          this.#phase === 'beside' &&
          this.#depth === 0 &&
          byte === openList &&
          this.#isDataKey(chunk.subarray(start, at))
        ) {
          this.#phase = 'elements';
          this.#drop();
          start = at + 1;
        } else this.#depth++;
      } else if (byte === closeList || byte === closeObject) {
        if (this.#depth > 0) {
          this.#depth--;
          if (this.#phase === 'values' && this.#depth === 0) {
            yield* this.#take(chunk.subarray(start, at + 1));
            start = at + 1;
          }
        } else if (this.#phase === 'elements') {
          yield* this.#take(chunk.subarray(start, at));
          this.done = true;
          return;
        } else throw this.#damaged();
      } else if (this.#depth === 0 && byte === (this.#phase === 'values' ? newline : comma)) {
        if (this.#phase === 'beside') this.#drop();
        else yield* this.#take(chunk.subarray(start, at));
        start = at + 1;
      }
    }
    this.#keep(chunk.subarray(start));
  }

  *end(): Generator<Buffer, void, undefined> {
    if (this.#phase !== 'values' || this.#depth > 0 || this.#quoted) throw this.#damaged();
    yield* this.#take(Buffer.alloc(0));
  }

  /** Whether a bracket of the envelope follows `"data":`. */
  #isDataKey(last: Buffer): boolean {
    const text = Buffer.concat([...this.#parts, last])
      .toString('utf8')
      .trim();
    return text.charCodeAt(text.length - 1) === colon && /^"data"\s*:$/.test(text);
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#phase === 'beside' && this.#length > readLimits.recordBytes) this.#drop(); // no key is this long
    if (this.#length > readLimits.recordBytes) {
      throw new RegistrantFileError(
        'too-large',
        `Element ${this.#count + 1} is longer than ${readLimits.recordBytes.toLocaleString('en')} bytes; look for a bracket or quotation mark that is never closed.`,
      );
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #drop(): void {
    this.#parts = [];
    this.#length = 0;
  }

  *#take(last: Buffer): Generator<Buffer, void, undefined> {
    this.#keep(last);
    const element = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#drop();
    if (element.every(isSpace)) return; // an empty line, or an empty list
    this.#count++;
    yield element;
  }

  #damaged(): RegistrantFileError {
    if (this.#phase === 'before' || this.#phase === 'beside') {
      return new RegistrantFileError(
        'not-a-table',
        'The JSON is not a list of registrants; use [{…}, …], {"data": [{…}, …]}, or one object a line.',
      );
    }
    return new RegistrantFileError(
      'damaged',
      `The JSON breaks off or closes a bracket too many after element ${this.#count.toLocaleString('en')}; export it again.`,
    );
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === newline || byte === 0x0d;
}
