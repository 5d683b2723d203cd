import { binaryArray, EncodedArray, storableText } from './encoded-array.js';
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
