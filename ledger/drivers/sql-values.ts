import { StoreError } from './store-error.js';

/** One parameter. JSON is passed as its text; an array is an SQL array, never JSON. */
export type SqlValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | EncodedArray
  | null
  | undefined
  | readonly SqlValue[];

/**
 * Converts a parameter for `pg`: a Buffer is sent in binary form, a text as it is.
 * @param elementType type to which the statement casts an array's elements; undefined if it does not cast them
 * @throws as `toSqlText`; {StoreError} kind `other` for an array that was encoded for another type
 */
export function toSqlParameter(value: SqlValue, elementType: string | undefined): string | Buffer | null {
  if (value instanceof EncodedArray) {
    if (value.elementType === elementType) return value.bytes;
    throw new StoreError('other', `a statement was given an array of ${value.elementType}: it takes another type`);
  }
  const binary = elementType !== undefined && Array.isArray(value) ? binaryArray(elementType, value) : undefined;
  return binary ?? toSqlText(value);
}

/**
 * A parameter as PostgreSQL's text form, alike on both drivers. The server reads it with the type that the statement
 * gives the parameter, so `$1::json[]` with an array of JSON texts keeps their bytes.
 * @throws {StoreError} kind `other` for an invalid date or a value of another type (its value is not named)
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

/**
 * A parameter that is in its binary form already. Encoding a page's columns takes a good part of the time that storing
 * it does; done beforehand, it is done while the store is at work on the page before.
 */
export class EncodedArray {
  constructor(
    readonly elementType: string,
    readonly bytes: Buffer,
  ) {}
}

/**
 * One column of many rows, for `unnest($1::type[], …)`. Without any value it goes as an empty array, which `unnest`
 * fills up beside a longer one: nothing to send, and nothing for the server to take apart.
 * Source: PostgreSQL 15, 7.2.1.4 "Table Functions".
 * @param elementType the type to which the statement casts the parameter's elements
 * @returns the values themselves where one of them has no binary form: they then go as text
 */
export function encodeColumn(elementType: string, values: readonly SqlValue[]): SqlValue {
  const column = values.some((value) => value !== null && value !== undefined) ? values : [];
  const bytes = binaryArray(elementType, column);
  return bytes === undefined ? column : new EncodedArray(elementType, bytes);
}

/** Bytes before the first element of an array of one dimension. */
const headBytes = 20;

/** Buffer in which arrays are encoded. Each leaves as a copy of its own length, a third or less of the longest form. */
let room = Buffer.allocUnsafeSlow(64 * 1024);
/** Room that is kept: a page of 300 items takes 0.5 MB. */
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
  /** Bytes that a value takes at most; -1 when it has no form here, so that the array has to go as text. */
  maxBytes(value: SqlValue): number;
  /** Gives the bytes that it wrote. */
  write(buffer: Buffer, offset: number, value: SqlValue): number;
}

/** A text is encoded once, into room for its longest form: finding its length first would take as long again. */
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
 * An array in PostgreSQL's binary form: a page's rows need no quoting, and the server no parsing (measured: a page of
 * 300 items takes a third of the time to send, and to bind, that it takes as text). The type has to be the one that
 * the statement casts the parameter to.
 * Source: PostgreSQL 15, src/backend/utils/adt/arrayfuncs.c, array_recv; RFC 4122 order for uuid.
 * @returns undefined where the type, or one of the values, has no form here: it then goes as text
 */
function binaryArray(type: string, values: readonly SqlValue[]): Buffer | undefined {
  const coder = coders[type];
  if (coder === undefined) return undefined;
  let most = headBytes + 4 * values.length;
  let hasNull = 0;
  for (const value of values) {
    if (value === null || value === undefined) {
      hasNull = 1;
      continue;
    }
    const bytes = coder.maxBytes(value);
    if (bytes < 0) return undefined;
    most += bytes;
  }
  const buffer = roomFor(most);
  buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0); // dimensions
  buffer.writeInt32BE(hasNull, 4);
  buffer.writeInt32BE(coder.oid, 8);
  if (values.length === 0) return Buffer.from(buffer.subarray(0, 12));
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // arrays count from 1
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
 * A text as the store can hold it: U+0000 becomes U+FFFD, as half a surrogate pair does when it is encoded. The store
 * refuses a text with U+0000, and one odd character in a status, a cursor or an error message of the service would end
 * the statement for all rows beside it (decision 0043). JSON keeps both, as escapes.
 */
function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
