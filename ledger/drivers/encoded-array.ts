import { binaryArray } from './binary-array.js';
import type { SqlValue } from './sql-values.js';

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
