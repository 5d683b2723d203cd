import { StoreError } from './store-error.js';
import { types } from 'pg';

/** A parameter of a statement. JSON is passed as text. An array is an SQL array, never JSON. */
export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null | undefined | readonly SqlValue[];

/**
 * Converts a parameter to a form that `pg` sends unchanged: a Buffer as binary, a string as text.
 * @param elementType type to which the statement casts an array's elements; undefined if it does not cast them
 * @throws as `toSqlText`
 */
export function toSqlParameter(value: SqlValue, elementType: string | undefined): string | Buffer | null {
  const binary = elementType !== undefined && Array.isArray(value) ? binaryArray(elementType, value) : undefined;
  return binary ?? toSqlText(value);
}

/**
 * Converts a parameter to PostgreSQL's text form, which is the same for both drivers. The server parses it as the type
 * that the statement gives the parameter, so `$1::json[]` with an array of JSON texts keeps their bytes.
 * @throws {StoreError} kind `other` for an invalid date or a value of another type; the message does not contain the
 *   value
 */
function toSqlText(value: SqlValue): string | null {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'string':
      return storableText(value);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
  }
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  }
  if (Array.isArray(value)) return arrayText(value as readonly SqlValue[]);
  throw new StoreError('other', 'a statement was given an object as a parameter: pass JSON as its text');
}

function dateText(value: Date): string {
  if (Number.isNaN(value.getTime())) throw new StoreError('other', 'a statement was given an invalid date');
  return value.toISOString();
}

/** Source: PostgreSQL 15, "Array Input and Output Syntax": quoted elements need only `\` and `"` escaped. */
function arrayText(values: readonly SqlValue[]): string {
  const elements = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value as readonly SqlValue[]);
    const text = toSqlText(value);
    if (text === null) return 'NULL';
    return typeof value === 'number' || typeof value === 'bigint' ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
  });
  return `{${elements.join(',')}}`;
}

/** Bytes before the first element of an array of one dimension. */
const headBytes = 20;

/**
 * Reused buffer in which arrays are encoded. The result is a copy of the used part, which is usually about a third of
 * the room that texts reserve (`ofText`).
 */
let room = Buffer.allocUnsafeSlow(64 * 1024);
/** Maximum size of the buffer that is kept. A page of 300 items needs 0.5 MB. */
const maxRoomBytes = 2 * 1024 * 1024;

function roomFor(bytes: number): Buffer {
  if (bytes <= room.byteLength) return room;
  const larger = Buffer.allocUnsafeSlow(bytes);
  if (bytes <= maxRoomBytes) room = larger;
  return larger;
}

/** Encodes the elements of an array for the wire. Type numbers: pg_type.dat. */
interface ElementCoder {
  readonly oid: number;
  /**
   * Returns the maximum number of bytes that the value needs; -1 if it has no binary form here, so that the whole array
   * has to be sent as text.
   */
  maxBytes(value: SqlValue): number;
  /** Writes the value and returns the number of bytes written. */
  write(buffer: Buffer, offset: number, value: SqlValue): number;
}

/**
 * Encodes text. Reserves three bytes per UTF-16 unit, the most that UTF-8 needs, because computing the exact length
 * first would take as long as encoding.
 */
const ofText = (oid: number): ElementCoder => ({
  oid,
  maxBytes: (value) => (typeof value === 'string' ? 3 * value.length : -1),
  write: (buffer, offset, value) => buffer.write(storableText(value as string), offset, 'utf8'),
});

const coders: Readonly<Record<string, ElementCoder>> = {
  text: ofText(25),
  json: ofText(114),
  bytea: {
    oid: 17,
    maxBytes: (value) => (value instanceof Uint8Array ? value.byteLength : -1),
    write(buffer, offset, value) {
      buffer.set(value as Uint8Array, offset);
      return (value as Uint8Array).byteLength;
    },
  },
  boolean: {
    oid: 16,
    maxBytes: (value) => (typeof value === 'boolean' ? 1 : -1),
    write: (buffer, offset, value) => buffer.writeUInt8(value === true ? 1 : 0, offset) - offset,
  },
  int4: {
    oid: 23,
    maxBytes: (value) => (typeof value === 'number' && (value | 0) === value ? 4 : -1),
    write: (buffer, offset, value) => buffer.writeInt32BE(value as number, offset) - offset,
  },
  int8: {
    oid: 20,
    maxBytes: (value) => (Number.isSafeInteger(value) ? 8 : -1),
    write(buffer, offset, value) {
      buffer.writeInt32BE(Math.floor((value as number) / 2 ** 32), offset);
      return buffer.writeUInt32BE((value as number) >>> 0, offset + 4) - offset;
    },
  },
  uuid: {
    oid: 2950,
    maxBytes: (value) => (typeof value === 'string' && /^[\da-f]{32}$/.test(value) ? 16 : -1),
    write: (buffer, offset, value) => buffer.write(value as string, offset, 'hex'),
  },
};

/**
 * Encodes an array in PostgreSQL's binary form, which needs neither quoting here nor parsing by the server. Measured on
 * PostgreSQL: a page of 300 new items costs 28 ms of CPU time in both processes, and 32 ms as text. The embedded store
 * shows no difference. `type` must be the type to which
 * the statement casts the parameter. Source: PostgreSQL 15, src/backend/utils/adt/arrayfuncs.c, array_recv; RFC 4122
 * order for uuid.
 * @returns undefined if the type or one of the values has no binary form here; the array is then sent as text
 */
function binaryArray(type: string, values: readonly SqlValue[]): Buffer | undefined {
  const coder = coders[type];
  if (coder === undefined) return undefined;
  let maxLength = headBytes + 4 * values.length;
  let hasNull = 0;
  for (const value of values) {
    if (value === null || value === undefined) {
      hasNull = 1;
      continue;
    }
    const bytes = coder.maxBytes(value);
    if (bytes < 0) return undefined;
    maxLength += bytes;
  }
  const buffer = roomFor(maxLength);
  buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0); // dimensions
  buffer.writeInt32BE(hasNull, 4);
  buffer.writeInt32BE(coder.oid, 8);
  if (values.length === 0) return Buffer.from(buffer.subarray(0, 12));
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // lower bound: SQL arrays start at index 1
  let offset = headBytes;
  for (const value of values) {
    const isNull = value === null || value === undefined;
    const bytes = isNull ? -1 : coder.write(buffer, offset + 4, value);
    buffer.writeInt32BE(bytes, offset);
    offset += 4 + Math.max(bytes, 0);
  }
  return Buffer.from(buffer.subarray(0, offset));
}

/**
 * Replaces U+0000 with U+FFFD, as encoding does with a lone surrogate. PostgreSQL refuses a text with U+0000. One such
 * character in a status, a cursor or an error message of the service would make the statement fail for all rows that it
 * writes (decision 0043). JSON keeps both characters, as escapes.
 */
function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

type Read = (text: string) => unknown;

const asText: Read = (text) => text;

/**
 * Converters for result columns, by PostgreSQL's type number (pg_type.dat). Values of all other types remain
 * PostgreSQL's text: `date` as YYYY-MM-DD, and `json` and `jsonb` unparsed, because their exact bytes matter. A
 * `timestamptz` becomes a Date, which has only whole milliseconds, so compare instants in SQL and not here.
 */
const readers = new Map<number, Read>([
  [16, (text) => text === 't'],
  [17, readBytes],
  [20, readInteger],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [1114, readInstant],
  [1184, readInstant],
  [1700, readNumeric],
]);

/** The type numbers of array types and of their elements. */
const arrays: readonly (readonly [array: number, element: number])[] = [
  [1000, 16],
  [1001, 17],
  [1005, 21],
  [1007, 23],
  [1009, 25],
  [1015, 1043],
  [1016, 20],
  [1021, 700],
  [1022, 701],
  [1028, 26],
  [1115, 1114],
  [1182, 1082],
  [1185, 1184],
  [1231, 1700],
  [199, 114],
  [3807, 3802],
  [2951, 2950],
];

// With the type number of text[], `pg` parses the text form of any array into nested arrays of texts and nulls.
const readTextArray = types.getTypeParser(1009 as 25) as unknown as (text: string) => unknown[];
for (const [array, element] of arrays) {
  const read = readers.get(element) ?? asText;
  readers.set(array, (text) => mapElements(readTextArray(text), read));
}

/** The option `types` of `pg`, with the same converters for both drivers. All results are requested in text form. */
export const resultTypes = {
  getTypeParser: ((oid: number): Read => readers.get(oid) ?? asText) as unknown as typeof types.getTypeParser,
};

function mapElements(values: readonly unknown[], read: Read): unknown[] {
  return values.map((value) => {
    if (value === null) return null;
    return Array.isArray(value) ? mapElements(value, read) : read(value as string);
  });
}

/**
 * Converts an integer.
 * @throws {StoreError} kind `other` if a JavaScript number would silently round it; the statement then has to cast the
 *   column to text
 */
function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new StoreError('other', 'the store answered with an integer beyond 2^53: cast that column to text');
  }
  return value;
}

function readNumeric(text: string): number {
  return /^-?\d+$/.test(text) ? readInteger(text) : Number(text);
}

function readBytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex'); // \x…: bytea_output is hex wherever we connect
}

/**
 * Converts a timestamp such as `2026-11-21 09:30:00.123456`, with or without `+00` at the end. Both drivers set
 * TimeZone to UTC and DateStyle to ISO.
 */
function readInstant(text: string): Date {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(\+00)?$/.exec(text);
  if (match === null)
    throw new StoreError('other', 'the store answered with an instant outside of the years 1 to 9999');
  return new Date(`${match[1]}T${match[2]}${match[3] ?? ''}Z`);
}
