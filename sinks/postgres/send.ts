import type { ClientBase } from 'pg';
import type { Outcome } from '../sink.js';
import { confirmHeld } from '../while-held.js';
import { classifyFailure, DestinationChanged } from './classify.js';
import { type PostgresOperation, type Write, storableJson } from './plan.js';
import { readOwner, requireSameOwner, type SchemaOwner } from './schema.js';
import { MARKER_TABLE, qualified, quoted, leadingColumns, primaryKey, trailingColumns } from './ddl.js';
import { tables, type Table } from './tables.js';

interface Target {
  /** As it is named to a person. */
  readonly server: string;
  readonly schema: string;
  readonly owner: SchemaOwner;
  readonly statementTimeoutMs: number;
}

export interface Written {
  /** One per operation, in their order. */
  readonly outcomes: readonly Outcome[];
  /** The tables are not what they were. */
  readonly looksAgain: boolean;
}

/**
 * Writes a batch in one transaction. Where PostgreSQL refuses a row, the batch is halved until that row stands alone:
 * it is rejected, the others are written. Never throws.
 * @param mayGoOn asked before each transaction; once false, what has not been written is `unsent`
 */
export async function writeBatch(
  client: ClientBase,
  operations: readonly PostgresOperation[],
  target: Target,
  mayGoOn: () => boolean,
): Promise<Written> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const groups = [[...operations.keys()]];
  for (let group = groups.shift(); group !== undefined && mayGoOn(); group = groups.shift()) {
    const settle = (outcome: Outcome): void => group!.forEach((position) => (outcomes[position] = outcome));
    try {
      await confirmHeld();
      await transact(
        client,
        group.map((position) => operations[position]!),
        target,
      );
      settle({ kind: 'delivered' });
    } catch (error) {
      const failure = classifyFailure(error, target.server, target.schema);
      if (failure.about === 'destination') {
        // Nothing else would pass either.
        for (const positions of [group, ...groups]) for (const at of positions) outcomes[at] = failure.outcome;
        return { outcomes, looksAgain: failure.looksAgain };
      }
      if (group.length === 1) settle({ kind: 'rejected', cause: failure.cause, detail: failure.detail });
      else groups.unshift(group.slice(0, Math.ceil(group.length / 2)), group.slice(Math.ceil(group.length / 2)));
    }
  }
  return { outcomes, looksAgain: false };
}

async function transact(client: ClientBase, operations: readonly PostgresOperation[], target: Target): Promise<void> {
  const { schema, owner, statementTimeoutMs } = target;
  await client.query('begin');
  try {
    // Here and not when connecting: poolers between us and the server refuse or forget settings of a session.
    await client.query(`set local statement_timeout = ${statementTimeoutMs}`);
    const found = await readOwner(client, schema);
    if (found === null) throw new DestinationChanged(lostMarker(schema));
    requireSameOwner(found, schema, owner);
    for (const { statement, rows } of statementsFor(operations, schema))
      await client.query(statement, [storableJson(rows)]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // what went wrong first is what is told
    throw error;
  }
}

function lostMarker(schema: string): string {
  return `schema "${schema}" has lost the row in ${MARKER_TABLE}: find out who removed it, then resume the sink`;
}

/** One statement per table and kind of write, tables in an order that all writers share. */
function statementsFor(
  operations: readonly PostgresOperation[],
  schema: string,
): { statement: string; rows: PostgresOperation['row'][] }[] {
  const latest = [...latestByItem(operations).values()];
  const kinds: readonly Write[] = ['row', 'tombstone', 'clear', 'remove'];
  return tables.flatMap((table) =>
    kinds.flatMap((write) => {
      const rows = latest.filter((each) => each.table === table.name && each.write === write).map(({ row }) => row);
      return rows.length === 0 ? [] : [{ statement: writeStatement(write, table, schema), rows }];
    }),
  );
}

/** PostgreSQL refuses to upsert one row twice in a statement (SQLSTATE 21000): the newest revision counts. */
function latestByItem(operations: readonly PostgresOperation[]): Map<string, PostgresOperation> {
  const latest = new Map<string, PostgresOperation>();
  for (const operation of operations) {
    const { workspace, pigeonhole_id, key, revision } = operation.row;
    const item = JSON.stringify([operation.table, workspace, pigeonhole_id, key]);
    const before = latest.get(item);
    if (before === undefined || Number(before.row['revision']) <= Number(revision)) latest.set(item, operation);
  }
  return latest;
}

/**
 * The statement that makes many writes of one kind in one table. Its one parameter is a JSON array of rows, each item
 * in it at most once. None of them touches a row that knows a newer revision, so a late or repeated write never undoes
 * one; and the same write again changes nothing, `updated_at` included.
 */
function writeStatement(write: Write, table: Table, schema: string): string {
  switch (write) {
    case 'row':
      return upsert(table, schema, columnsOf(table));
    case 'tombstone':
      return tombstone(table, schema);
    case 'clear':
      return `update ${qualified(schema, table.name)} as t set ${clearing(table)}, "anonymous" = true,
  "revision" = r."revision", "sequence" = r."sequence", "found_at" = r."found_at", "updated_at" = clock_timestamp()
from ${given(keyColumns)}
where ${sameItem} and t."revision" <= r."revision" and ${stillPersonal(table)}`;
    case 'remove':
      return `delete from ${qualified(schema, table.name)} as t using ${given(keyColumns)}
where ${sameItem} and t."revision" <= r."revision"`;
  }
}

type Typed = { readonly name: string; readonly type: string };

const keyColumns: readonly Typed[] = [
  ...leadingColumns,
  ...trailingColumns.filter(({ name }) => ['revision', 'sequence', 'found_at'].includes(name)),
];

const sameItem = primaryKey.map((name) => `t.${quoted(name)} = r.${quoted(name)}`).join(' and ');

/** All but `updated_at`, which the database sets. */
function columnsOf(table: Table): Typed[] {
  return [...leadingColumns, ...table.columns, ...trailingColumns].filter(({ name }) => name !== 'updated_at');
}

function upsert(table: Table, schema: string, columns: readonly Typed[]): string {
  const values = columns.map(({ name }) => name).filter((name) => !primaryKey.includes(name));
  return `${insert(table, schema, columns)} do update set
  ${values.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')}, "updated_at" = excluded."updated_at"
where ${mayReplace} and (${values.map((name) => `t.${quoted(name)}`).join(', ')})
  is distinct from (${values.map((name) => `excluded.${quoted(name)}`).join(', ')})`;
}

/** What says nothing of a person stays, so that counts by session or by time go on to hold. */
function tombstone(table: Table, schema: string): string {
  const columns = [
    ...keyColumns,
    ...table.columns.filter(({ from }) => from !== 'the-rest' && 'envelope' in from),
    ...trailingColumns.filter(({ name }) => name === 'deleted_at'),
  ];
  return `${insert(table, schema, columns)} do update set
  ${clearing(table)}, "revision" = excluded."revision", "sequence" = excluded."sequence", "found_at" = excluded."found_at",
  "deleted_at" = excluded."deleted_at", "updated_at" = excluded."updated_at"
where ${mayReplace} and (t."revision" < excluded."revision" or t."deleted_at" is null or ${stillPersonal(table)})`;
}

const mayReplace = 't."revision" <= excluded."revision"';

/** In the order of their keys, so that two writers of one table never wait for each other in a circle. */
function insert(table: Table, schema: string, columns: readonly Typed[]): string {
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const key = primaryKey.map(quoted).join(', ');
  return `insert into ${qualified(schema, table.name)} as t (${names}, "updated_at")
select ${names}, clock_timestamp() from ${given(columns)} order by ${key}
on conflict (${key})`;
}

function given(columns: readonly Typed[]): string {
  return `jsonb_to_recordset($1::text::jsonb) as r (${columns.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ')})`;
}

function personalColumns(table: Table): string[] {
  return [...table.columns.filter(({ personal }) => personal).map(({ name }) => quoted(name)), '"raw"'];
}

function clearing(table: Table): string {
  return personalColumns(table)
    .map((name) => `${name} = null`)
    .join(', ');
}

function stillPersonal(table: Table): string {
  return `num_nonnulls(${personalColumns(table)
    .map((name) => `t.${name}`)
    .join(', ')}) > 0`;
}
