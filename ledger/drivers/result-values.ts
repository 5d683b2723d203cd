import { types } from 'pg';
import { StoreError } from './store-error.js';

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
