import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';

/* Owner of the table `sink_objects`: every statement that writes it. */

type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

/** The ids and the state of an item at a destination, as the sink stores them. */
type ObjectValue = Readonly<Record<string, unknown>>;

/** An item's object at the destination, with the item's list and key. */
export interface ItemObject {
  readonly list: string;
  readonly key: string;
  /** Null if nothing is left at the destination. */
  readonly value: ObjectValue | null;
}

/**
 * Stores each item's `object`: its ids and state at the destination. If an item was settled twice in a batch, its last
 * object counts.
 */
export async function keepObjects(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  objects: readonly ItemObject[],
): Promise<void> {
  if (objects.length === 0) return;
  const last = [...new Map(objects.map((each) => [JSON.stringify([each.list, each.key]), each])).values()];
  const gone = last.filter(({ value }) => value === null);
  const kept = last.filter(({ value }) => value !== null);
  if (gone.length > 0) await dropObjects(tx, { sinkId, pigeonholeNumber }, gone);
  if (kept.length === 0) return;
  await tx.query(
    `insert into sink_objects (sink_id, pigeonhole_number, list, key, object)
     select $1, $2, n.list, n.key, n.object::json from unnest($3::text[], $4::text[], $5::text[]) as n (list, key, object)
     on conflict (sink_id, pigeonhole_number, list, key) do update
       set object = excluded.object, updated_at = clock_timestamp()`,
    [
      sinkId,
      pigeonholeNumber,
      kept.map(({ list }) => list),
      kept.map(({ key }) => key),
      kept.map(({ value }) => JSON.stringify(value)),
    ],
  );
}

/** Deletes the objects of these items. */
export async function dropObjects(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  items: readonly { readonly list: string; readonly key: string }[],
): Promise<void> {
  await tx.query(
    `delete from sink_objects where ctid = any(array(
       select o.at from unnest($3::text[], $4::text[]) as n (list, key) cross join lateral (select ctid as at
         from sink_objects where sink_id = $1 and pigeonhole_number = $2 and list = n.list and key = n.key
           limit 1) o))`,
    [sinkId, pigeonholeNumber, items.map(({ list }) => list), items.map(({ key }) => key)],
  );
}

const pageSize = 2000;

/** Yields the objects of a sink's last outcomes over all its lanes, in no particular order. Reads page by page. */
export async function* objectsOfSink(ledger: Ledger, sinkId: number): AsyncGenerator<ObjectValue, void> {
  let after: { pigeonholeNumber: number; list: string; key: string } = { pigeonholeNumber: 0, list: '', key: '' };
  for (;;) {
    const rows = await ledger.db.query<{ pigeonholeNumber: number; list: string; key: string; object: string }>(
      `select pigeonhole_number as "pigeonholeNumber", list, key, object from sink_objects where sink_id = $1
         and (pigeonhole_number, list, key) > ($2, $3, $4)
       order by pigeonhole_number, list, key limit $5`,
      [sinkId, after.pigeonholeNumber, after.list, after.key, pageSize],
    );
    for (const { object } of rows) yield JSON.parse(object) as ObjectValue;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!;
  }
}
