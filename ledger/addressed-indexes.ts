import type { Queryable } from './drivers/database.js';

/**
 * Conditions that exactly one index can serve (decision 0038). While a table has no statistics, or only those of other
 * pigeonholes, the planner estimates one row for `sink_id = … and ref = …` and considers the primary key as good as the
 * index that the statement needs. It then reads everything ever delivered on the lane. These indexes start with an
 * expression that no other index has, so a condition with the same expression leaves the planner no choice.
 */

/** Selects a lane's deliveries that are open, are dead letters, or sent a person's record: by item, in their order. */
export function byItem(deliveries: string, sinkId: string, ref: string): string {
  return `${deliveries}.sink_id + 0 = ${sinkId}::int4 and ${deliveries}.ref = ${ref}`;
}

/** Deliveries of a lane that are `waiting` or `retry`, or `sending` (one statement names one of both), in their order. */
export function byOrder(deliveries: string, sinkId: string, ref: string): string {
  return `(${deliveries}.sink_id::int8 << 32 | ${deliveries}.ref) = (${sinkId}::int4::int8 << 32 | ${ref}::int4)`;
}

/**
 * For the rest of a transaction: rows are found by indexes, in the order of the index. A scan of the whole table, or a
 * bitmap, would have to sort everything that is open before the first row of a batch comes out.
 */
export async function useIndexOrder(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`);
}

/** SQL expression for the number of deliveries of a lane that are not settled. */
export function openCount(sinkId: string, ref: string): string {
  return `((select count(*) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state in ('waiting', 'retry'))
    + (select count(*) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state = 'sending'))::int`;
}

/** The lowest sequence among them; null if there is none. */
export function oldestOpen(sinkId: string, ref: string): string {
  return `least((select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state in ('waiting', 'retry')),
    (select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state = 'sending'))`;
}

/**
 * The delivery of each row `n (sequence, replay)` of the lane `$1`, `$2`, one look-up by the primary key each. Written back by
 * `insert … on conflict do update`, which finds its rows one by one as well: for `update … from` the planner may compare
 * each row with each.
 */
export const knownDelivery = `cross join lateral (select * from deliveries where sink_id = $1 and ref = $2
  and sequence = n.sequence and replay = n.replay limit 1) d`;
