import { isDeepStrictEqual } from 'node:util';
import type { ClientBase } from 'pg';
import type { HeldResult, ReadBack } from '../sink.js';
import { allColumns, primaryKey, qualified, quoted } from './ddl.js';
import { type PostgresOperation, storableJson } from './plan.js';
import { tableOf } from './tables.js';

/** A row as PostgreSQL holds it: its columns as JSON. */
type Row = Readonly<Record<string, unknown>>;

/** Returns the rows of these items, in their order. Reads each table with one statement, by primary key. */
export async function readRows(
  client: ClientBase,
  wanted: readonly ReadBack<PostgresOperation>[],
  schema: string,
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(() => ({ kind: 'missing' }));
  const entries = wanted.map(({ change, operation }, position) => ({
    table: tableOf.get(change.list)?.name ?? operation?.table,
    row: { n: position, workspace: change.workspace, pigeonhole_id: change.pigeonholeId, key: change.key },
  }));
  for (const table of new Set(entries.flatMap((entry) => entry.table ?? []))) {
    const rows = entries.flatMap((entry) => (entry.table === table ? [entry.row] : []));
    const { rows: found } = await client.query<{ n: number; held: Row }>(readStatement(schema, table), [
      JSON.stringify(rows),
    ]);
    for (const { n, held } of found) results[n] = { kind: 'held', held };
  }
  return results;
}

function readStatement(schema: string, table: string): string {
  const same = primaryKey.map((name) => `t.${quoted(name)} = r.${quoted(name)}`).join(' and ');
  return `select r.n, to_jsonb(t) as held
from jsonb_to_recordset($1::text::jsonb) as r (n integer, workspace text, pigeonhole_id bigint, key text)
  join ${qualified(schema, table)} as t on ${same}`;
}

/**
 * Returns the columns in which a row differs from an operation. Other columns, and the instant of the write, do not matter. For
 * a removal: the columns that it would still clear. Pure.
 */
export function differingColumns({ table: name, write, row }: PostgresOperation, held: Row): string[] {
  const table = [...tableOf.values()].find((each) => each.name === name)!;
  const personal = [...table.columns.filter((column) => column.personal).map((column) => column.name), 'raw'];
  const left = personal.filter((column) => (held[column] ?? null) !== null);
  switch (write) {
    case 'remove':
      return [...primaryKey];
    case 'clear':
      return left;
    case 'tombstone':
      return (held['deleted_at'] ?? null) === null ? [...left, 'deleted_at'] : left;
    case 'row': {
      const types = new Map(allColumns(table).map((column) => [column.name, column.type]));
      const stored = JSON.parse(storableJson(row)) as Row;
      return Object.keys(stored).filter((column) => !isSame(types.get(column), stored[column], held[column]));
    }
  }
}

/** Compares a value with the one that PostgreSQL returns for it, which may spell an instant in another way. */
function isSame(type: string | undefined, written: unknown, held: unknown): boolean {
  if (type === 'timestamp with time zone' && typeof written === 'string' && typeof held === 'string') {
    return Date.parse(written) === Date.parse(held);
  }
  return isDeepStrictEqual(written ?? null, held ?? null);
}
