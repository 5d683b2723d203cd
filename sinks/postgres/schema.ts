import type { ClientBase } from 'pg';
import { groupBy } from '../../base/grouping.js';
import {
  primaryKey,
  allColumns,
  MARKER_TABLE,
  qualified,
  columnStatements,
  markerStatements,
  schemaStatement,
  tableStatements,
} from './ddl.js';
import { DestinationChanged } from './classify.js';
import { type Table, tables } from './tables.js';

export interface SchemaOwner {
  readonly ledgerId: string;
  readonly sink: string;
}

/** Without a `ledgerId`, only the sink's name is compared. */
type ExpectedOwner = Pick<SchemaOwner, 'sink'> & Partial<SchemaOwner>;

/** The state of a schema, compared with the expected tables. */
export interface SchemaState {
  readonly exists: boolean;
  readonly hasMarkerTable: boolean;
  /** Null if no sink has claimed the schema. */
  readonly owner: SchemaOwner | null;
  readonly missingTables: readonly Table[];
  readonly missingColumns: readonly { readonly table: Table; readonly column: string }[];
  /** The expected tables that exist. */
  readonly presentTables: readonly Table[];
  /** A sentence for each difference that cannot be resolved by adding tables and columns. */
  readonly misfits: readonly string[];
}

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly type: string;
  readonly not_null: boolean;
  readonly has_default: boolean;
  readonly key_position: number | null;
}

/**
 * Inspects a schema. Reads the catalog and not information_schema, because information_schema hides tables on which the
 * user has no rights, and they would seem to be missing.
 */
export async function inspectSchema(client: ClientBase, schema: string): Promise<SchemaState> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    'select exists (select from pg_namespace where nspname = $1) as exists',
    [schema],
  );
  const { rows } = await client.query<ColumnRow>(
    `select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, a.atttypmod) as type,
       a.attnotnull as not_null, a.atthasdef or a.attidentity <> '' as has_default,
       array_position(k.indkey::int2[], a.attnum)::int as key_position
     from pg_namespace n
       join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       left join pg_index k on k.indrelid = c.oid and k.indisprimary
     where n.nspname = $1 and c.relname = any ($2::text[])`,
    [schema, [...tables.map(({ name }) => name), MARKER_TABLE]],
  );
  const byTable = groupBy(rows, (row) => row.table_name);
  const hasMarkerTable = byTable.has(MARKER_TABLE);
  const presentTables = tables.filter(({ name }) => byTable.has(name));
  return {
    exists: found[0]?.exists === true,
    hasMarkerTable,
    owner: hasMarkerTable ? await ownerIfReadable(client, schema) : null,
    missingTables: tables.filter(({ name }) => !byTable.has(name)),
    missingColumns: presentTables.flatMap((table) =>
      missingColumns(table, byTable.get(table.name)!).map((column) => ({ table, column })),
    ),
    presentTables,
    misfits: presentTables.flatMap((table) => misfits(table, byTable.get(table.name)!, schema)),
  };
}

/**
 * Reads the owner of the schema. Also returns null if this user may not read the marker table; the first write then
 * reports that.
 */
async function ownerIfReadable(client: ClientBase, schema: string): Promise<SchemaOwner | null> {
  const { rows } = await client.query<{ may: boolean }>(
    `select has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT') as may
     from pg_namespace n join pg_class c on c.relnamespace = n.oid where n.nspname = $1 and c.relname = $2`,
    [schema, MARKER_TABLE],
  );
  return rows[0]?.may === true ? await readOwner(client, schema) : null;
}

/** Reads the owner of the schema; null if no sink has claimed it. */
export async function readOwner(client: ClientBase, schema: string): Promise<SchemaOwner | null> {
  const { rows } = await client.query<{ ledger_id: string; sink: string }>(
    `select ledger_id, sink from ${qualified(schema, MARKER_TABLE)}`,
  );
  return rows[0] === undefined ? null : { ledgerId: rows[0].ledger_id, sink: rows[0].sink };
}

/**
 * Checks that this sink may write to a schema.
 * @throws {DestinationChanged} if the schema belongs to another sink or ledger, or cannot be migrated
 */
export function requireOwn(state: SchemaState, schema: string, { ledgerId, sink }: ExpectedOwner): void {
  const { owner, hasMarkerTable, presentTables, misfits: problems } = state;
  if (!hasMarkerTable && presentTables.length > 0) {
    throw new DestinationChanged(
      `schema "${schema}" has a table ${presentTables[0]!.name} but no ${MARKER_TABLE}: give this sink a schema of its own`,
    );
  }
  if (owner !== null) requireSameOwner(owner, schema, { ledgerId, sink });
  if (problems[0] !== undefined) throw new DestinationChanged(problems[0]);
}

/** @throws {DestinationChanged} if the schema belongs to another ledger or sink */
export function requireSameOwner(owner: SchemaOwner, schema: string, { ledgerId, sink }: ExpectedOwner): void {
  if (ledgerId !== undefined && owner.ledgerId !== ledgerId) {
    throw new DestinationChanged(
      `schema "${schema}" belongs to another ledger (table ${MARKER_TABLE}): give this sink a schema of its own`,
    );
  }
  if (owner.sink !== sink) {
    throw new DestinationChanged(
      `schema "${schema}" belongs to the sink "${owner.sink}": give this sink a schema of its own`,
    );
  }
}

function missingColumns(table: Table, rows: readonly ColumnRow[]): string[] {
  const present = new Set(rows.map(({ column_name }) => column_name));
  // A column that must not be null, such as a key column, cannot be added to a table with rows. It is reported as a
  // misfit.
  return allColumns(table)
    .filter(({ name, notNull }) => !notNull && !present.has(name))
    .map(({ name }) => name);
}

function misfits(table: Table, rows: readonly ColumnRow[], schema: string): string[] {
  const where = `table "${schema}".${table.name}`;
  const expected = new Map(allColumns(table).map((column) => [column.name, column]));
  const present = new Map(rows.map((row) => [row.column_name, row]));
  const key = rows
    .filter(({ key_position }) => key_position !== null)
    .toSorted((a, b) => a.key_position! - b.key_position!)
    .map(({ column_name }) => column_name);
  return [
    ...[...expected.values()].flatMap(({ name, type, notNull }) => {
      const found = present.get(name);
      if (found === undefined) return notNull ? [`${where} lacks the column ${name}: rename the table`] : [];
      return found.type === type ? [] : [`column ${name} of ${where} is ${found.type}, not ${type}: rename the table`];
    }),
    ...rows
      .filter(({ column_name, not_null, has_default }) => not_null && !has_default && !expected.has(column_name))
      .map(
        ({ column_name }) => `column ${column_name} of ${where} is "not null" and has no default: give it a default`,
      ),
    ...(primaryKey.join() === key.join()
      ? []
      : [`${where} does not have the primary key (${primaryKey.join(', ')}): rename the table`]),
  ];
}

/** Lock timeout of a migration. While a migration waits for a lock, readers wait behind it. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Claims the schema for this sink and creates what is missing. If nothing is missing, it locks nothing. It may run
 * twice, even concurrently. It only adds tables and columns. A previous version of pigeonpost still works with the new
 * schema, because its statements name their columns.
 * @throws {DestinationChanged} if the schema belongs to another sink or ledger, or cannot be migrated; otherwise the
 * driver's errors
 */
export async function prepareSchema(client: ClientBase, schema: string, owner: SchemaOwner): Promise<void> {
  const seen = await inspectSchema(client, schema);
  requireOwn(seen, schema, owner);
  if (seen.owner !== null && missingStatements(seen, schema).length === 0) return;
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`pigeonpost schema ${schema}`]);
    const state = await inspectSchema(client, schema); // another process may have created the missing parts
    requireOwn(state, schema, owner);
    for (const statement of missingStatements(state, schema)) await client.query(statement);
    if (state.owner === null) {
      await client.query(`insert into ${qualified(schema, MARKER_TABLE)} (ledger_id, sink) values ($1, $2)`, [
        owner.ledgerId,
        owner.sink,
      ]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // an error here would hide the first one
    throw error;
  }
}

/** Returns the statements that add what is missing. This sink or the schema's owner runs them. */
export function missingStatements(state: SchemaState, schema: string): string[] {
  return [
    ...(state.exists ? [] : [schemaStatement(schema)]),
    ...(state.hasMarkerTable ? [] : markerStatements(schema)),
    ...state.missingTables.flatMap((table) => tableStatements(schema, table)),
    ...state.missingColumns.flatMap(({ table, column }) => columnStatements(schema, table, column)),
  ];
}
