import type { Table } from './tables.js';

/**
 * Returns the statement that creates the schema. The statements of this file only add what is missing. They change no
 * existing table or column. The sink runs them if its user has the rights; otherwise `pigeonpost check` prints them for
 * the schema's owner.
 */
export function schemaStatement(schema: string): string {
  return `create schema if not exists ${quoted(schema)}`;
}

/** Returns the statements that create the marker table, which says to which ledger and sink the schema belongs. */
export function markerStatements(schema: string): string[] {
  const name = qualified(schema, MARKER_TABLE);
  return [
    `create table if not exists ${name} (ledger_id text not null, sink text not null,
  only_row boolean primary key default true check (only_row))`,
    `comment on table ${name} is 'The ledger and the sink to which this schema belongs. No other ledger or sink may write here.'`,
  ];
}

export function tableStatements(schema: string, table: Table): string[] {
  const name = qualified(schema, table.name);
  const columns = allColumns(table).map(
    (column) => `  ${quoted(column.name)} ${column.type}${column.notNull ? ' not null' : ''}`,
  );
  return [
    `create table if not exists ${name} (\n${columns.join(',\n')},\n  primary key (${primaryKey.map(quoted).join(', ')})\n)`,
    ...indexedBy(table).map(
      (column) =>
        `create index if not exists ${quoted(`${table.name}_${column}_idx`)} on ${name} (${indexColumns(column).map(quoted).join(', ')})`,
    ),
    `comment on table ${name} is ${literal(table.comment)}`,
    ...allColumns(table).map((column) => commentStatement(schema, table, column)),
  ];
}

/** Returns the statements that add a column which a newer version of pigeonpost needs. */
export function columnStatements(schema: string, table: Table, columnName: string): string[] {
  const column = allColumns(table).find(({ name }) => name === columnName);
  if (column === undefined) throw new Error(`${table.name} has no column ${columnName}`);
  return [
    `alter table ${qualified(schema, table.name)} add column if not exists ${quoted(column.name)} ${column.type}`,
    commentStatement(schema, table, column),
  ];
}

export function allColumns(table: Table): TableColumn[] {
  const own = table.columns.map(({ name, type, comment }) => ({ name, type, notNull: false, comment }));
  return [...leadingColumns, ...own, ...trailingColumns];
}

function commentStatement(schema: string, table: Table, { name, comment }: TableColumn): string {
  return `comment on column ${qualified(schema, table.name)}.${quoted(name)} is ${literal(comment)}`;
}

/**
 * Returns the columns to index: those by which queries join and filter, and `updated_at`, which tools use to copy rows
 * incrementally.
 */
function indexedBy(table: Table): string[] {
  const names = ['id', 'question_id', 'session_id', 'attendee_id'];
  return [...table.columns.map(({ name }) => name).filter((name) => names.includes(name)), 'updated_at'];
}

/**
 * Returns the columns of an index. Ids are unique only within a pigeonhole of a workspace, so the index starts with
 * these two columns.
 */
function indexColumns(column: string): string[] {
  return column === 'updated_at' ? [column] : ['workspace', 'pigeonhole_id', column];
}

/** A column that all tables have, before or after their own columns. */
interface TableColumn {
  readonly name: string;
  /** The type in the form of PostgreSQL's `format_type`. */
  readonly type: string;
  readonly notNull: boolean;
  readonly comment: string;
}

export const primaryKey: readonly string[] = ['workspace', 'pigeonhole_id', 'key'];

const optional = (name: string, type: string, comment: string): TableColumn => ({
  name,
  type,
  notNull: false,
  comment,
});
const required = (name: string, type: string, comment: string): TableColumn => ({ name, type, notNull: true, comment });

export const leadingColumns: readonly TableColumn[] = [
  required('workspace', 'text', 'The workspace, by its name in pigeonpost.yaml.'),
  required('pigeonhole_id', 'bigint', 'The pigeonhole; 0 if the item belongs to the workspace.'),
  required('key', 'text', 'Identifies the item in its list and pigeonhole.'),
];

export const trailingColumns: readonly TableColumn[] = [
  optional(
    'anonymous',
    'boolean',
    'True: the person is not shown, by their choice or for lack of consent. Null: items of this list have no person.',
  ),
  required('revision', 'bigint', '1, 2, 3… for each item; a newer revision replaces an older one.'),
  required('sequence', 'bigint', 'Increases with every change in the pigeonhole.'),
  required('found_at', 'timestamp with time zone', 'When pigeonpost found this revision.'),
  required('updated_at', 'timestamp with time zone', "When this row was written, by this database's clock."),
  optional(
    'deleted_at',
    'timestamp with time zone',
    'When pigeonpost found that the item is deleted, or null. Its columns about a person are then null.',
  ),
  optional('raw', 'jsonb', 'The whole item as the service returned it, including fields without a column.'),
];

/** The marker table, which contains only the owner of the schema. */
export const MARKER_TABLE = 'pigeonpost_ledger';

/** Quotes a name for a statement. Names come from the configuration and from tables.ts, never from items. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function qualified(schema: string, table: string): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
