import { columnsOf, type Table, inBatches, plainDecimal } from './table.js';
import { RegistrantFileError, type Finding, type RawRow, readLimits } from './registrant-file.js';

/**
 * - `json-list`: `[…]`
 * - `json-in-data`: `{ …, "data": […], … }`; other members are skipped
 * - `json-values`: one value after the other (NDJSON), even over several lines
 */
export type JsonKind = 'json-list' | 'json-in-data' | 'json-values';

/** An element with its number from 1; `fields` is undefined if it is not an object. */
interface Element {
  readonly number: number;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads the objects of a JSON list or NDJSON as rows. The columns are the fields of the first 4 MiB of elements, in
 * order of appearance. A field that first appears later is reported for its row, so that nothing is lost silently.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} if the text is not JSON, not a list, or has no objects
 */
export async function readJson(bytes: AsyncIterable<Buffer>, kind: JsonKind): Promise<Table> {
  const source = elements(bytes, kind);
  const first: Element[] = [];
  const names = new Set<string>();
  let looked = 0;
  while (looked < readLimits.fieldSearchBytes) {
    const next = await source.next();
    if (next.done === true) break;
    const { element, size } = next.value;
    first.push(element);
    looked += size;
    for (const name of Object.keys(element.fields ?? {})) names.add(name);
    if (names.size > readLimits.columns) break; // refused below
  }
  if (first.length === 0) throw new RegistrantFileError('empty', 'The JSON list is empty; export it again.');
  if (names.size === 0)
    throw new RegistrantFileError(
      'not-a-table',
      'The JSON list holds no objects with fields; give one object for each registrant.',
    );
  const fields = [...names];
  return { columns: columnsOf(named(fields)), rows: inBatches(rowsOf(fields, first, source)) };
}

/** Gives a name to each field whose name is empty, because `columnsOf` drops empty names at the end. */
function named(fields: readonly string[]): string[] {
  return fields.map((field, index) => (field.trim() === '' ? `(column ${index + 1})` : field));
}

async function* elements(
  bytes: AsyncIterable<Buffer>,
  kind: JsonKind,
): AsyncGenerator<{ element: Element; size: number }, void, undefined> {
  let number = 0;
  for await (const text of splitElements(bytes, kind)) {
    number++;
    yield { element: { number, fields: fieldsOf(text, number) }, size: text.length };
  }
}

function fieldsOf(text: Buffer, number: number): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    // without the parser's error as cause, because its message quotes the text
    throw new RegistrantFileError(
      'damaged',
      `Element ${number.toLocaleString('en')} is not valid JSON; correct or export it again.`,
    );
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

async function* rowsOf(
  fields: readonly string[],
  first: Element[],
  rest: AsyncGenerator<{ element: Element; size: number }, void, undefined>,
): AsyncGenerator<RawRow, void, undefined> {
  const known = new Set(fields);
  try {
    for (const element of first.splice(0)) yield rowOf(element, fields, known);
    for await (const { element } of rest) yield rowOf(element, fields, known);
  } finally {
    await rest.return();
  }
}

function rowOf(element: Element, fields: readonly string[], known: ReadonlySet<string>): RawRow {
  const row = element.number + 1;
  const object = element.fields;
  if (object === undefined) {
    return { row, values: fields.map(() => ''), findings: [{ column: null, kind: 'not-an-object' }] };
  }
  const findings: Finding[] = [];
  const values = fields.map((field, column) => {
    const value = Object.hasOwn(object, field) ? object[field] : null;
    const { text, finding } = textOf(value);
    if (finding !== undefined) findings.push({ column, kind: finding });
    return text;
  });
  const late = Object.entries(object).some(([field, value]) => !known.has(field) && value !== null && value !== '');
  if (late) findings.push({ column: null, kind: 'late-field' });
  return findings.length === 0 ? { row, values } : { row, values, findings };
}

function textOf(value: unknown): { text: string; finding?: Finding['kind'] } {
  switch (typeof value) {
    case 'string':
      return { text: value };
    case 'boolean':
      return { text: String(value) };
    case 'number': {
      if (!Number.isFinite(value)) return { text: '', finding: 'digits-lost' }; // 1e999
      const { text, digitsLost } = plainDecimal(value);
      return digitsLost ? { text, finding: 'digits-lost' } : { text };
    }
    default:
      return value === null ? { text: '' } : { text: '', finding: 'nested-value' };
  }
}

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
async function* splitElements(bytes: AsyncIterable<Buffer>, kind: JsonKind): AsyncGenerator<Buffer, void, undefined> {
  const splitter = new Splitter(kind);
  for await (const chunk of bytes) {
    yield* splitter.split(chunk);
    if (splitter.done) return;
  }
  yield* splitter.end();
}

/**
 * before: no bracket yet · beside: in the envelope, before the list · elements: within the list · values: NDJSON.
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

  constructor(kind: JsonKind) {
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
