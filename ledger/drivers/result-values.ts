import { types } from 'pg';
import { StoreError } from './store-error.js';

type Read = (text: string) => unknown;

const asText: Read = (text) => text;

/**
 * Converts columns by PostgreSQL's type number (pg_type.dat). Other types stay PostgreSQL's text, `json` and `jsonb`
 * too, because their bytes matter here and readers parse them if needed; `date` as YYYY-MM-DD. `timestamptz` is a Date:
 * whole milliseconds, so compare instants in SQL, not here.
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

/** The type number of an array, and of its elements. */
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

// Given the type number of text[], `pg` reads any array's text form as nested arrays of texts and nulls.
const readTextArray = types.getTypeParser(1009 as 25) as unknown as (text: string) => unknown[];
for (const [array, element] of arrays) {
  const read = readers.get(element) ?? asText;
  readers.set(array, (text) => mapElements(readTextArray(text), read));
}

/** For `pg`'s option `types`: the same readers for both drivers. All results are requested in text form. */
export const resultTypes = {
  getTypeParser: ((oid: number): Read => readers.get(oid) ?? asText) as unknown as typeof types.getTypeParser,
};

function mapElements(values: readonly unknown[], read: Read): unknown[] {
  return values.map((value) => {
    if (value === null) return null;
    return Array.isArray(value) ? mapElements(value, read) : read(value as string);
  });
}

/** @throws {StoreError} kind `other`: an integer that a number would silently round must be read as text in SQL */
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

/** Both drivers set TimeZone to UTC and DateStyle to ISO: `2026-11-21 09:30:00.123456`, `+00` behind it or nothing. */
function readInstant(text: string): Date {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(\+00)?$/.exec(text);
  if (match === null)
    throw new StoreError('other', 'the store answered with an instant outside of the years 1 to 9999');
  return new Date(`${match[1]}T${match[2]}${match[3] ?? ''}Z`);
}
