import { RegistrantFileError, readLimits } from './registrant-file.js';

/**
 * - `json-list`: `[…]`
 * - `json-in-data`: `{ …, "data": […], … }`; other members are skipped, but may not be a second `data`
 * - `json-values`: one value after the other (NDJSON), even over several lines
 */
export type JsonKind = 'json-list' | 'json-in-data' | 'json-values';

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
 * Inspects only quotation marks, brackets and commas; the parser checks each element.
 * @param bytes UTF-8
 * @throws {RegistrantFileError} kind `damaged` if the text ends too early, `too-large` for a huge element
 */
export async function* splitElements(
  bytes: AsyncIterable<Buffer>,
  kind: JsonKind,
): AsyncGenerator<Buffer, void, undefined> {
  const splitter = new Splitter(kind);
  for await (const chunk of bytes) yield* splitter.split(chunk);
  yield* splitter.end();
}

/**
 * before: no bracket yet · beside: in the envelope, before the list · elements: within the list · behind: in the envelope,
 * after the list · after: nothing but white space may follow · values: NDJSON.
 * before → elements → after, or before → beside → elements → behind → after; values never changes.
 */
class Splitter {
  #phase: 'before' | 'beside' | 'elements' | 'behind' | 'after' | 'values';
  readonly #kind: JsonKind;
  /** Open brackets within the element, or within a member of the envelope. */
  #depth = 0;
  #line = 1;
  #quoted = false;
  #escaped = false;
  /** The element's bytes so far. */
  #parts: Buffer[] = [];
  #length = 0;
  #count = 0;

  constructor(kind: JsonKind) {
    this.#kind = kind;
    this.#phase = kind === 'json-values' ? 'values' : 'before';
  }

  *split(chunk: Buffer): Generator<Buffer, void, undefined> {
    let start = 0; // start of the element's bytes in this chunk
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === newline) this.#line++;
      if (this.#quoted) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#quoted = false;
        continue;
      }
      if (this.#phase === 'after') {
        if (!isSpace(byte)) throw this.#moreFollows();
        start = at + 1;
      } else if (byte === quote) {
        this.#quoted = true;
      } else if (this.#phase === 'before') {
        if (byte === openList) this.#phase = 'elements';
        else if (byte === openObject) this.#phase = 'beside';
        start = at + 1;
      } else if (byte === openList || byte === openObject) {
        const isList = byte === openList && this.#depth === 0 && this.#isDataKey(chunk.subarray(start, at));
        if (isList && this.#phase === 'behind') throw this.#moreFollows();
        if (isList && this.#phase === 'beside') {
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
        } else if (this.#phase === 'elements' && byte === closeList) {
          yield* this.#take(chunk.subarray(start, at));
          start = at + 1;
          this.#phase = this.#kind === 'json-list' ? 'after' : 'behind';
        } else if (this.#phase === 'behind' && byte === closeObject) {
          this.#phase = 'after';
          this.#drop();
          start = at + 1;
        } else throw this.#damaged();
      } else if (this.#depth === 0 && byte === (this.#phase === 'values' ? newline : comma)) {
        if (this.#phase === 'beside' || this.#phase === 'behind') this.#drop();
        else yield* this.#take(chunk.subarray(start, at));
        start = at + 1;
      }
    }
    this.#keep(chunk.subarray(start));
  }

  *end(): Generator<Buffer, void, undefined> {
    if (this.#phase === 'after') return;
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
    const isMember = this.#phase === 'beside' || this.#phase === 'behind';
    if (isMember && this.#length > readLimits.recordBytes) this.#drop(); // no key is this long
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
      `The JSON breaks off or closes a wrong bracket after element ${this.#count.toLocaleString('en')}, in line ${this.#line.toLocaleString('en')}; export it again.`,
    );
  }

  /** More follows the list: a second export, the next page of an API, or the rest after a bracket too many. */
  #moreFollows(): RegistrantFileError {
    return new RegistrantFileError(
      'damaged',
      `The list of the JSON ends after element ${this.#count.toLocaleString('en')}, but more follows in line ${this.#line.toLocaleString('en')}; put all registrants into one list, or import each list as a file of its own.`,
    );
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === newline || byte === 0x0d;
}
