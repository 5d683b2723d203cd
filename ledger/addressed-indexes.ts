import type { Queryable } from './drivers/database.js';

/**
 * Builds conditions that only one index can serve (decision 0038). If a table has no statistics, or its statistics do
 * not cover this pigeonhole, the planner expects one row for `sink_id = … and ref = …`. It then considers the primary
 * key as good as the index that the statement needs, and reads everything ever delivered on the lane. These indexes
 * start with an expression that no other index has, so a condition with the same expression leaves the planner no
 * choice.
 */

/**
 * SQL condition for the deliveries of a lane. The indexes that can serve it are sorted by item and then by change, so
 * rows are read in that order. The statement must also restrict the rows to those of one index (`deliveries_of_item` or
 * `deliveries_told_settled` in schema.sql).
 */
export function byItem(deliveries: string, sinkId: string, ref: string): string {
  return `${deliveries}.sink_id + 0 = ${sinkId}::int4 and ${deliveries}.ref = ${ref}`;
}

/**
 * SQL condition for the open deliveries of a lane. The indexes that can serve it are sorted by change, so rows are read
 * in that order. The statement must also restrict `state` either to `waiting` and `retry` or to `sending`, because
 * there is one index for each of the two.
 */
export function byOrder(deliveries: string, sinkId: string, ref: string): string {
  return `(${deliveries}.sink_id::int8 << 32 | ${deliveries}.ref) = (${sinkId}::int4::int8 << 32 | ${ref}::int4)`;
}

/**
 * Makes the planner find rows by indexes, in the order of the index, for the rest of the transaction. A scan of the
 * whole table, or a bitmap scan, would have to sort every open delivery before it returns the first row of a batch.
 */
export async function useIndexOrder(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`);
}

/** SQL expression for the number of deliveries of a lane that are not settled. */
export function openCount(sinkId: string, ref: string): string {
  return `((select count(*) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state in ('waiting', 'retry'))
    + (select count(*) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state = 'sending'))::int`;
}

/** SQL expression for the lowest sequence of a lane's deliveries that are not settled; null if there is none. */
export function oldestOpen(sinkId: string, ref: string): string {
  return `least((select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state in ('waiting', 'retry')),
    (select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, ref)} and o.state = 'sending'))`;
}

/**
 * SQL join that adds, for each row `n (sequence, replay)`, the delivery `d` on the lane of sink `$1` and pigeonhole
 * `$2`. It looks up each delivery by the primary key. Statements write the rows back with `insert … on conflict do
 * update`, which also looks them up one by one. They do not use `update … from`, because for that the planner may
 * compare every row with every other row.
 */
export const knownDelivery = `cross join lateral (select * from deliveries where sink_id = $1 and ref = $2
  and sequence = n.sequence and replay = n.replay limit 1) d`;
