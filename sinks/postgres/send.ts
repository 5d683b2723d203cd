import type { ClientBase } from 'pg';
import { type PartReply, sendInParts } from '../records/send-in-parts.js';
import type { Outcome } from '../sink.js';
import { confirmHeld } from '../../base/lease.js';
import { classifyFailure, DestinationChanged } from './classify.js';
import { type PostgresOperation, type Write, storableJson } from './plan.js';
import { readOwner, requireSameOwner, type SchemaOwner } from './schema.js';
import { allColumns, leadingColumns, MARKER_TABLE, primaryKey, qualified, quoted, trailingColumns } from './ddl.js';
import { tables, type Table } from './tables.js';

interface Target {
  readonly server: string;
  readonly schema: string;
  readonly owner: SchemaOwner;
  readonly statementTimeoutMs: number;
}

export interface Written {
  readonly outcomes: readonly Outcome[];
  /** Whether the tables have changed, so that the schema has to be inspected again. */
  readonly looksAgain: boolean;
}

/**
 * Writes a batch in one transaction. If PostgreSQL refuses a row, the batch is split in halves until that row is found.
 * Only that row is rejected, and the others are written. Never throws.
 * @param mayContinue called before each transaction; once it returns false, the remaining operations are `unsent`
 */
export async function writeBatch(
  client: ClientBase,
  operations: readonly PostgresOperation[],
  target: Target,
  mayContinue: () => boolean,
): Promise<Written> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  let failed: Extract<ReturnType<typeof classifyFailure>, { about: 'destination' }> | undefined;
  const write = async (group: readonly number[]): Promise<PartReply<number>> => {
    const settle = (outcome: Outcome): void => group.forEach((position) => (outcomes[position] = outcome));
    try {
      await confirmHeld();
      await transact(
        client,
        group.map((position) => operations[position]!),
        target,
      );
      settle({ kind: 'delivered' });
      return { accepted: true, again: [] };
    } catch (error) {
      const failure = classifyFailure(error, target.server, target.schema);
      if (failure.about === 'destination') {
        failed = failure;
        return 'over';
      }
      if (group.length > 1) return { accepted: false, again: group };
      settle({ kind: 'rejected', cause: failure.cause, detail: failure.detail });
      return { accepted: false, again: [] };
    }
  };
  const { left } = await sendInParts([[...operations.keys()]], write, mayContinue);
  for (const position of left) outcomes[position] = failed?.outcome ?? { kind: 'unsent' };
  return { outcomes, looksAgain: failed?.looksAgain ?? false };
}

async function transact(client: ClientBase, operations: readonly PostgresOperation[], target: Target): Promise<void> {
  const { schema, owner, statementTimeoutMs } = target;
  await client.query('begin');
  try {
    // Set in each transaction and not when connecting, because connection poolers refuse or lose settings of a session.
    await client.query(`set local statement_timeout = ${statementTimeoutMs}`);
    const found = await readOwner(client, schema);
    if (found === null) throw new DestinationChanged(lostMarker(schema));
    requireSameOwner(found, schema, owner);
    for (const { statement, rows } of statementsFor(operations, schema))
      await client.query(statement, [storableJson(rows)]);
    // If the machine was suspended, another process may have taken over the lane and removed a row, which this
    // transaction would restore.
    await confirmHeld();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

function lostMarker(schema: string): string {
  return `schema "${schema}" no longer has its row in table ${MARKER_TABLE}: find out who removed the row, then resume the sink`;
}

/**
 * Returns one statement per table and kind of write. All writers use the same order of tables, so that they do not
 * deadlock.
 */
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

/**
 * Keeps only the newest revision of each item, because PostgreSQL refuses a statement that upserts a row twice
 * (SQLSTATE 21000).
 */
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
 * Returns the statement for many writes of one kind to one table. Its only parameter is a JSON array of rows, in which
 * each item occurs at most once. It never changes a row that has a newer revision, so a late write does not undo a
 * newer one. A repeated write changes nothing, not even `updated_at`.
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

/** All columns except `updated_at`, which the database sets. */
function columnsOf(table: Table): Typed[] {
  return allColumns(table).filter(({ name }) => name !== 'updated_at');
}

function upsert(table: Table, schema: string, columns: readonly Typed[]): string {
  const values = columns.map(({ name }) => name).filter((name) => !primaryKey.includes(name));
  return `${insert(table, schema, columns)} do update set
  ${values.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')}, "updated_at" = excluded."updated_at"
where ${mayReplace} and (${values.map((name) => `t.${quoted(name)}`).join(', ')})
  is distinct from (${values.map((name) => `excluded.${quoted(name)}`).join(', ')})`;
}

/**
 * Returns the statement that marks items as deleted. It keeps the columns without personal data, so that counts by
 * session or time stay correct.
 */
function tombstone(table: Table, schema: string): string {
  const columns = [
    ...keyColumns,
    ...table.columns.filter(({ from }) => from === 'sessionId'),
    ...trailingColumns.filter(({ name }) => name === 'deleted_at'),
  ];
  return `${insert(table, schema, columns)} do update set
  ${clearing(table)}, "revision" = excluded."revision", "sequence" = excluded."sequence", "found_at" = excluded."found_at",
  "deleted_at" = excluded."deleted_at", "updated_at" = excluded."updated_at"
where ${mayReplace} and (t."revision" < excluded."revision" or t."deleted_at" is null or ${stillPersonal(table)})`;
}

const mayReplace = 't."revision" <= excluded."revision"';

/** Returns the beginning of an upsert. Its rows are ordered by key, so that two writers never deadlock. */
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
