import { groupBy } from '../base/grouping.js';
import { type ListName, listsOfPeople, listTraits } from '../base/lists.js';
import type { Ledger } from './ledger.js';
import { readableJson } from './sql-expressions.js';

/** The fields that the stored items of a list have in one pigeonhole. */
export interface SeenFields {
  readonly workspace: string;
  /** 0: the workspace's own lists. */
  readonly pigeonholeId: number;
  readonly items: number;
  readonly fields: readonly SeenField[];
}

export interface SeenField {
  readonly field: string;
  /** Name of a member if the field is an object; null: the entry describes the field itself. */
  readonly member: string | null;
  /** Number of items that have the field, by JSON type: string, number, boolean, object, array, null. */
  readonly types: Readonly<Record<string, number>>;
  /** Number of items in which the value is neither null nor an empty text. */
  readonly filled: number;
  /** The field's values, each with the number of items; null if values are not shown. */
  readonly values: Readonly<Record<string, number>> | null;
}

interface FieldsRequest {
  readonly list: string;
  /** Null: every workspace. */
  readonly workspace: string | null;
  /** Null: every pigeonhole. */
  readonly pigeonholeId: number | null;
  /** Maximum number of items read from each pigeonhole; absent: all. */
  readonly sample?: number;
}

/** If a field has more distinct values than this, its values are not shown, because they are not states. */
const maxValues = 12;

/**
 * Returns the fields of a list's items and their contents, by pigeonhole. Reads every stored item of the list (or the
 * sample) in one statement, so it is only for requests by an operator.
 */
export async function seenFields(ledger: Pick<Ledger, 'db'>, asked: FieldsRequest): Promise<SeenFields[]> {
  const rows = await ledger.db.query<FieldRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", e.field, e.member, json_typeof(e.value) as type,
       case when json_typeof(e.value) in ('string', 'boolean')
         and (e.field || coalesce('.' || e.member, '') = any($4::text[]) or json_typeof(e.value) = 'boolean' and not $5)
         then e.value::text end as value,
       count(*)::int as items,
       (count(*) filter (where json_typeof(e.value) <> 'null' and e.value::text !~ '^"[[:space:]]*"$'))::int as filled
     from pigeonholes p
       cross join lateral (select payload from items where pigeonhole_number = p.pigeonhole_number and list = $1
         and payload is not null
         order by pigeonhole_number, list, key limit $6::int8) i
       cross join lateral (select ${readableJson('i.payload')} as payload) c
       cross join lateral (
         select null as field, null as member, null::json as value
         union all select t.key, null, t.value from json_each(c.payload) t
         union all select t.key, m.key, m.value from json_each(c.payload) t
           cross join lateral json_each(case json_typeof(t.value) when 'object' then t.value else '{}'::json end) m
       ) e
     where ($2::text is null or p.workspace = $2)
       and ($3::int8 is null or p.pigeonhole_id = $3)
     group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4 nulls first, 5, 6`,
    [
      asked.list,
      asked.workspace,
      asked.pigeonholeId,
      Object.hasOwn(listTraits, asked.list) ? listTraits[asked.list as ListName].shownValues : [],
      listsOfPeople.has(asked.list),
      asked.sample ?? null,
    ],
  );
  const places = groupBy(rows, (row) => `${row.workspace}/${row.pigeonholeId}`);
  return [...places.values()].map(inPlace);
}

/**
 * Returns the names of all fields that stored items of a list have, by `<workspace>/<id>`. Reads every item but not the
 * fields' values: a tenth of the work of `seenFields`.
 */
export async function fieldNames(
  ledger: Pick<Ledger, 'db'>,
  { list, workspace, pigeonholeId }: Omit<FieldsRequest, 'sample'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await ledger.db.query<{ place: string; names: string[] }>(
    `select p.workspace || '/' || p.pigeonhole_id as place, n.names from pigeonholes p cross join lateral (
       select array_agg(distinct k.name) as names from items i
         cross join lateral json_object_keys(${readableJson('i.payload')}) k (name)
       where i.pigeonhole_number = p.pigeonhole_number and i.list = $1 and i.payload is not null) n
     where n.names is not null and ($2::text is null or p.workspace = $2)
       and ($3::int8 is null or p.pigeonhole_id = $3)`,
    [list, workspace, pigeonholeId],
  );
  return new Map(rows.map(({ place, names }) => [place, names]));
}

interface FieldRow {
  workspace: string;
  pigeonholeId: number;
  /** Null in the row that counts the items. */
  field: string | null;
  member: string | null;
  type: string | null;
  /** JSON text of the value; null if the value is not shown. */
  value: string | null;
  items: number;
  filled: number;
}

function inPlace(rows: readonly FieldRow[]): SeenFields {
  const [{ workspace, pigeonholeId }] = rows as [FieldRow];
  const ofFields = rows.filter(({ field }) => field !== null);
  const fields = groupBy(ofFields, ({ field, member }) => JSON.stringify([field, member]));
  return {
    workspace,
    pigeonholeId,
    items: rows.find(({ field }) => field === null)?.items ?? 0,
    fields: [...fields.values()].map(toField),
  };
}

function toField(rows: readonly FieldRow[]): SeenField {
  const types: Record<string, number> = {};
  for (const { type, items } of rows) types[type ?? 'null'] = (types[type ?? 'null'] ?? 0) + items;
  const shown = rows.filter(({ value }) => value !== null);
  const values = shown.map(({ value, items }) => [String(JSON.parse(value!)), items] as const);
  return {
    field: rows[0]!.field!,
    member: rows[0]!.member,
    types,
    filled: rows.reduce((sum, { filled }) => sum + filled, 0),
    values: shown.length === 0 || shown.length > maxValues ? null : Object.fromEntries(values),
  };
}
