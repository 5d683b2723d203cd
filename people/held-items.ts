import type { Queryable } from '../ledger/drivers/database.js';
import { listNotWanted } from '../ledger/lanes.js';
import type { NextChange } from '../ledger/items/next-changes.js';
import { dropObjects } from '../ledger/sink-objects.js';

/* Owner of the table `erasing`: every statement that writes it. A row is an item that a sink has to remove. */

/** A change of an item that is erased. */
export interface PastChange {
  readonly list: string;
  readonly key: string;
  readonly sequence: number;
}

/**
 * Records the sinks that hold or may hold data of each item: those that received the item, that attempted to send it,
 * or whose destination has an object for it (`sink_objects`).
 */
export async function recordHolders(
  tx: Queryable,
  {
    erasure,
    pigeonholeNumber,
    history,
    removals,
  }: {
    readonly erasure: number;
    readonly pigeonholeNumber: number;
    readonly history: readonly PastChange[];
    readonly removals: readonly Pick<NextChange, 'list' | 'key' | 'sequence'>[];
  },
): Promise<void> {
  await tx.query(
    `insert into erasing (erasure, pigeonhole_number, sink_id, list, key, sequence)
     select $1, $2, t.sink_id, r.list, r.key, r.sequence
     from (
       select distinct d.sink_id, h.list, h.key
       from unnest($3::text[], $4::text[], $5::int8[]) as h (list, key, sequence)
         cross join sinks s
         cross join lateral (select * from deliveries where sink_id = s.id and pigeonhole_number = $2
           and sequence = h.sequence
           offset 0) d
       where d.state in ('delivered', 'sending') or d.attempts > 0
       union
       select o.sink_id, o.list, o.key from unnest($6::text[], $7::text[]) as n (list, key) cross join sinks s
         cross join lateral (select * from sink_objects where sink_id = s.id and pigeonhole_number = $2
           and list = n.list and key = n.key limit 1) o
     ) t join unnest($6::text[], $7::text[], $8::int8[]) as r (list, key, sequence) on r.list = t.list and r.key = t.key
     on conflict (sink_id, pigeonhole_number, list, key) do update
       set sequence = excluded.sequence, erasure = excluded.erasure`,
    [
      erasure,
      pigeonholeNumber,
      history.map(({ list }) => list),
      history.map(({ key }) => key),
      history.map(({ sequence }) => sequence),
      removals.map(({ list }) => list),
      removals.map(({ key }) => key),
      removals.map(({ sequence }) => sequence),
    ],
  );
}

/**
 * SQL condition: the removal of an item waits for an operator, because the destination rejected it or the sink no
 * longer accepts the list. Such rows of `erasing` remain when the erasure ends. After a redrive, or when the sink or
 * the list is configured again, the removal is sent after all.
 * @param erasing alias of the row
 */
export const isLeft = (erasing: string): string =>
  `not exists (select 1 from deliveries left_d where left_d.sink_id = ${erasing}.sink_id
     and left_d.pigeonhole_number = ${erasing}.pigeonhole_number
     and left_d.sequence = ${erasing}.sequence and left_d.replay = 0
     and left_d.state <> 'dead' and not (left_d.state = 'withheld' and left_d.reason = '${listNotWanted}'))`;

/** Deletes the list of items that sinks had to remove for an erasure, except those that wait for an operator. */
export async function dropHolders(tx: Queryable, erasure: number): Promise<void> {
  await tx.query(`delete from erasing e where e.erasure = $1 and not ${isLeft('e')}`, [erasure]);
}

/**
 * Ends the removal in a lane. Deletes the stored ids of the sink's objects, except those of items that an operator
 * still has to remove.
 */
export async function settleErasingLane(
  tx: Queryable,
  {
    sinkId,
    pigeonholeNumber,
    erasure,
  }: { readonly sinkId: number; readonly pigeonholeNumber: number; readonly erasure: number },
): Promise<void> {
  const removed = await tx.query<{ list: string; key: string }>(
    `select e.list, e.key from erasing e
     where e.sink_id = $1 and e.pigeonhole_number = $2 and e.erasure = $3 and not ${isLeft('e')}
       and exists (select 1 from items i where i.pigeonhole_number = e.pigeonhole_number and i.list = e.list
         and i.key = e.key and i.erased)`,
    [sinkId, pigeonholeNumber, erasure],
  );
  await dropObjects(tx, { sinkId, pigeonholeNumber }, removed);
}
