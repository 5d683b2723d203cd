import { forgetsPerson } from '../forgets-person.js';
import type { Fields, Operation, Planned, SinkEnvironment, Subject } from '../sink.js';
import { columnValue, type Column } from './column.js';
import { isStorable } from './storable-json.js';
import { tableOf, type Table } from './tables.js';

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
