import { leadingColumns, primaryKey, trailingColumns } from './common-columns.js';
import { literal, MARKER_TABLE, qualified, quoted } from './names.js';
import type { Table } from './tables.js';

/**
 * Statements that make what is missing. Only ever adding: a column or table that somebody else has put there stays.
 * They are run by the sink where it may, and told by `check` to be run by a person where it may not.
 */
export function schemaStatement(schema: string): string {
  return `create schema if not exists ${quoted(schema)}`;
}

/** Whose the schema is: one ledger, by one sink. */
export function markerStatements(schema: string): string[] {
  const name = qualified(schema, MARKER_TABLE);
  return [
    `create table if not exists ${name} (ledger_id text not null, sink text not null,
  only_row boolean primary key default true check (only_row))`,
    `comment on table ${name} is 'Whose this schema is: pigeonpost writes nowhere else, and no other ledger writes here.'`,
  ];
}

/** The table with its indexes and comments. */
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

/** A column that a later version has brought. */
export function columnStatements(schema: string, table: Table, columnName: string): string[] {
  const column = allColumns(table).find(({ name }) => name === columnName);
  if (column === undefined) throw new Error(`${table.name} has no column ${columnName}`);
  return [
    `alter table ${qualified(schema, table.name)} add column if not exists ${quoted(column.name)} ${column.type}`,
    commentStatement(schema, table, column),
  ];
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  readonly comment: string;
}

/** Every column of a table, in its order. */
export function allColumns(table: Table): TableColumn[] {
  const own = table.columns.map(({ name, type, comment }) => ({ name, type, notNull: false, comment }));
  return [...leadingColumns, ...own, ...trailingColumns];
}

function commentStatement(schema: string, table: Table, { name, comment }: TableColumn): string {
  return `comment on column ${qualified(schema, table.name)}.${quoted(name)} is ${literal(comment)}`;
}

/** What queries join and filter by; `updated_at` is for whoever copies what has changed since. */
function indexedBy(table: Table): string[] {
  const names = ['id', 'question_id', 'session_id', 'attendee_id'];
  return [...table.columns.map(({ name }) => name).filter((name) => names.includes(name)), 'updated_at'];
}

/** Ids are unique within a workspace's pigeonhole at least, and a query names that first. */
function indexColumns(column: string): string[] {
  return column === 'updated_at' ? [column] : ['workspace', 'pigeonhole_id', column];
}
