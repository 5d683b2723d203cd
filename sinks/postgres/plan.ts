import {
  forgetsPerson,
  type Fields,
  type Operation,
  type Planned,
  type SinkEnvironment,
  type Subject,
} from '../sink.js';
import { type Column, type ColumnType, tableOf, type Table } from './tables.js';

/**
 * What becomes of a row. `row`: it is what the change says. `tombstone`: the item is deleted, and what the row says of
 * a person goes. `clear`: the person goes, the row stays. `remove`: the row goes.
 */
export type Write = 'row' | 'tombstone' | 'clear' | 'remove';

export interface PostgresOperation extends Operation {
  readonly table: string;
  readonly write: Write;
  /** By column; a column that is not named is null. */
  readonly row: Readonly<Record<string, unknown>>;
}

/**
 * What one change does to the table of its list. Pure. A row is always written whole: a field that has gone from the
 * item, or a person who may no longer be shown, goes from the row as well.
 */
export function planRow(subject: Subject, configured: SinkEnvironment['onForget']): Planned<PostgresOperation> {
  const { change, removal } = subject;
  const onForget = subject.canary === undefined ? configured : 'delete'; // nobody has joined anything to an invented row
  const table = tableOf.get(change.list);
  if (table === undefined) return { kind: 'nothing', reason: 'no-table' };
  if (!isStorable(change.key) || !isStorable(change.workspace)) {
    const detail = `the key of an item of ${change.list} holds a character that PostgreSQL has no text for`;
    return { kind: 'unplannable', cause: 'key-not-storable', detail };
  }
  if (forgetsPerson(removal) && onForget === 'manual') return { kind: 'nothing', reason: 'forget-by-hand' };
  const write = writeOf(subject, onForget);
  const operation = { changeId: change.id, table: table.name, write, row: rowOf(subject, table, write) };
  return { kind: 'send', operation };
}

function writeOf({ change, removal }: Subject, onForget: SinkEnvironment['onForget']): Write {
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
    const session = table.columns.some(isOfEnvelope) ? { session_id: change.sessionId } : {};
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
  if ('envelope' in from) return columnValue(type, sessionId);
  return columnValue(type, memberAt(item, from.item));
}

/** Members at the top of the item that no other column takes. */
function restOf(item: Fields, table: Table): Fields {
  const taken = new Set(
    table.columns.flatMap(({ from }) => (from !== 'the-rest' && 'item' in from ? [from.item[0]] : [])),
  );
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

function isOfEnvelope({ from }: Column): boolean {
  return from !== 'the-rest' && 'envelope' in from;
}

/** What stands for a character that cannot be stored: U+FFFD, the sign of Unicode for just that. */
const REPLACEMENT = '\\ufffd';

/**
 * A value as JSON that PostgreSQL takes as `jsonb`. U+0000 and lone surrogates are legal in JSON but cannot be text
 * there ("unsupported Unicode escape sequence"), so each becomes U+FFFD. Source: PostgreSQL 15, 8.14, "JSON Types".
 */
export function storableJson(value: unknown): string {
  // JSON.stringify writes exactly these as escapes; each escape is matched whole, so that `\\u0000` stays what it is.
  return JSON.stringify(value).replace(/\\(?:u([0-9a-f]{4})|.)/g, (escape, hex: string | undefined) =>
    hex === '0000' || (hex !== undefined && /^d[89a-f]/.test(hex)) ? REPLACEMENT : escape,
  );
}

/** Whether a text can be stored as it is. An identity that cannot must not be changed: two could become one. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/**
 * A value as its column takes it; null where there is none, or one of another type than the specification gives it.
 * Such a value is not lost: `raw` has it. A row refused for one odd field would lose all the others.
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

/** ISO 8601 with its offset, as the specification has it; one without would mean another instant on each server. */
function instantOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/.test(value)) return null;
  const at = new Date(value);
  // year 0 is one that PostgreSQL does not know, and 9999 with an offset may lead beyond four digits
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999 ? null : at.toISOString();
}

function dayOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value) || value.startsWith('0000')) return null;
  const at = new Date(`${value}T00:00:00Z`);
  // JavaScript takes 2026-02-30 for 2 March
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : null;
}
