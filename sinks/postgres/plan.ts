import { forgetsPerson, type Fields, type Operation, type Planned, type Subject, type OnForget } from '../sink.js';
import { dayStartMs } from '../../base/instant.js';
import type { postgresReasons } from './reasons.js';
import { type Column, type ColumnType, tableOf, type Table } from './tables.js';

/**
 * The kind of write. `row`: writes the item. `tombstone`: marks the item as deleted and clears personal columns.
 * `clear`: clears personal columns. `remove`: deletes the row.
 */
export type Write = 'row' | 'tombstone' | 'clear' | 'remove';

export interface PostgresOperation extends Operation {
  readonly table: string;
  readonly write: Write;
  /** Values by column; a column without a value is null. */
  readonly row: Readonly<Record<string, unknown>>;
}

/**
 * Plans the write of one change to the table of its list. Pure. Rows are always written completely, so that a field
 * that the item no longer has, or an attendee whose identity is no longer visible, disappears from the row as well.
 */
export function planRow(subject: Subject, onForget: OnForget): Planned<PostgresOperation> {
  const { change, removal } = subject;
  const table = tableOf.get(change.list);
  if (table === undefined) return nothing('no-table');
  if (!isStorable(change.key) || !isStorable(change.workspace)) {
    const detail = `the key of an item of ${change.list} contains a character that PostgreSQL cannot store`;
    return { kind: 'unplannable', cause: 'key-not-storable', detail };
  }
  if (forgetsPerson(removal) && onForget === 'manual') return nothing('forget-by-hand');
  const write = writeOf(subject, onForget);
  const operation = { changeId: change.id, table: table.name, write, row: rowOf(subject, table, write) };
  return { kind: 'send', operation };
}

function nothing(reason: keyof typeof postgresReasons): Planned<never> {
  return { kind: 'nothing', reason };
}

function writeOf({ change, removal }: Subject, onForget: OnForget): Write {
  if (forgetsPerson(removal) && onForget === 'delete') return 'remove';
  if (removal === 'consent-withdrawn') return 'clear';
  return change.data === null ? 'tombstone' : 'row';
}

function rowOf({ change }: Subject, table: Table, write: Write): Record<string, unknown> {
  const identity = {
    workspace: change.workspace,
    pigeonhole_id: change.pigeonholeId,
    key: change.key,
    revision: change.revision,
    sequence: change.sequence,
    found_at: change.timestamp,
  };
  if (write === 'tombstone') {
    const session = table.columns.some(({ from }) => from === 'sessionId') ? { session_id: change.sessionId } : {};
    return { ...identity, ...session, deleted_at: change.timestamp };
  }
  const item = change.data;
  if (write !== 'row' || item === null) return identity;
  const own = table.columns.map((column) => [column.name, valueIn(column, item, change.sessionId, table)] as const);
  const values = Object.fromEntries(own);
  return {
    ...identity,
    ...values,
    anonymous: table.person === undefined ? null : values[table.person] === null,
    raw: item,
  };
}

function valueIn(column: Column, item: Fields, sessionId: number | null, table: Table): unknown {
  const { from, type } = column;
  if (from === 'the-rest') return restOf(item, table);
  return columnValue(type, from === 'sessionId' ? sessionId : memberAt(item, from));
}

/** Returns those top-level fields of the item that have no column. */
function restOf(item: Fields, table: Table): Fields {
  const taken = new Set(table.columns.flatMap(({ from }) => (typeof from === 'string' ? [] : [from[0]])));
  return Object.fromEntries(Object.entries(item).filter(([name]) => !taken.has(name)));
}

function memberAt(item: Fields, path: readonly string[]): unknown {
  let value: unknown = item;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

/**
 * The JSON escape of U+FFFD, Unicode's replacement character, which replaces characters that PostgreSQL cannot store.
 */
const REPLACEMENT = '\\ufffd';

/**
 * Serializes a value to JSON that PostgreSQL accepts as `jsonb`. U+0000 and lone surrogates are legal in JSON, but
 * PostgreSQL refuses them ("unsupported Unicode escape sequence"), so each becomes U+FFFD. Source: PostgreSQL 15, 8.14,
 * "JSON Types".
 */
export function storableJson(value: unknown): string {
  // JSON.stringify writes these characters as escapes. The pattern matches every escape completely, so that the escaped
  // backslash in `\\u0000` is not taken for the start of another escape.
  return JSON.stringify(value).replace(/\\(?:u([0-9a-f]{4})|.)/g, (escape, hex: string | undefined) =>
    hex === '0000' || (hex !== undefined && /^d[89a-f]/.test(hex)) ? REPLACEMENT : escape,
  );
}

/**
 * Whether PostgreSQL can store a text unchanged. If it cannot, a key must not be changed to fit, because two keys could
 * become equal.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/**
 * Converts a value to its column's type. Null if there is no value, or if its type is not the one in the specification.
 * The column `raw` still contains such a value. The row is written nevertheless, so that one unexpected field does not
 * cost all the others.
 */
export function columnValue(type: ColumnType, value: unknown): unknown {
  switch (type) {
    case 'bigint':
      return Number.isSafeInteger(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'text':
      return typeof value === 'string' ? value : null;
    case 'timestamp with time zone':
      return instantOf(value);
    case 'date':
      return dayOf(value);
    case 'jsonb':
      return value ?? null;
  }
}

/**
 * Reads a time in ISO 8601 with an offset, as the specification requires. Without an offset, the time would depend on
 * the time zone of the database server.
 */
function instantOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/.test(value)) return null;
  const at = new Date(value);
  // PostgreSQL has no year 0, and a time in 9999 with an offset may be in the year 10000
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999 ? null : at.toISOString();
}

function dayOf(value: unknown): string | null {
  return typeof value === 'string' && dayStartMs(value) !== undefined && !value.startsWith('0000') ? value : null;
}
