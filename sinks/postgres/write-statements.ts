import { leadingColumns, primaryKey, trailingColumns } from './common-columns.js';
import type { Write } from './format.js';
import { qualified, quoted } from './names.js';
import type { Table } from './tables.js';

/**
 * The statement that makes many writes of one kind in one table. Its one parameter is a JSON array of rows, each item
 * in it at most once. None of them touches a row that knows a newer revision, so a late or repeated write never undoes
 * one; and the same write again changes nothing, `updated_at` included.
 */
export function writeStatement(write: Write, table: Table, schema: string): string {
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
