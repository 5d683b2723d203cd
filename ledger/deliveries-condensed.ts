import type { Queryable } from './drivers/database.js';

/** Names a delivery of a pigeonhole. */
interface DeliveryName {
  readonly sinkId: number;
  readonly sequence: number;
  readonly replay: number;
}

/** Returns the deliveries of these changes at all sinks, including archived ones. */
export async function deliveriesOf(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<
  (DeliveryName & { readonly state: string; readonly identity: boolean | null; readonly attempts: number })[]
> {
  return await tx.query(
    `select d.sink_id as "sinkId", d.sequence, d.replay, d.state, d.identity, d.attempts
     from unnest($2::int8[]) as n (sequence) cross join (select sink_id from lanes where pigeonhole_number = $1) l
       cross join lateral (select * from deliveries where sink_id = l.sink_id and pigeonhole_number = $1
         and sequence = n.sequence
         offset 0) d`,
    [pigeonholeNumber, sequences],
  );
}

/** Deletes deliveries. `delivery_counts` continues to count them. The caller has locked the lanes. */
export async function dropDeliveries(
  tx: Queryable,
  pigeonholeNumber: number,
  names: readonly DeliveryName[],
): Promise<void> {
  await tx.query(
    `delete from deliveries where ctid = any(array(
       select d.place from unnest($2::int4[], $3::int8[], $4::int4[]) as n (sink_id, sequence, replay)
         cross join lateral (select ctid as place from deliveries where sink_id = n.sink_id and pigeonhole_number = $1
           and sequence = n.sequence and replay = n.replay limit 1) d))`,
    [
      pigeonholeNumber,
      names.map(({ sinkId }) => sinkId),
      names.map(({ sequence }) => sequence),
      names.map(({ replay }) => replay),
    ],
  );
}
