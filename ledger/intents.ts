import type { Queryable } from './drivers/database.js';
import { writeIntended } from './deliveries.js';
import { type LaneName, moveWatermark } from './lanes.js';

/*
 * Owner of the table `intents`. Before a lane calls its sink, it commits what it is about to send as one row: the intent
 * (decision 0053). The transaction that stores the outcomes deletes it. If the holder of the lane ends before that, or
 * another step must know what is being sent, the intent becomes deliveries that are `sending`.
 */

/** A batch that a lane is about to send. */
export interface Intent {
  readonly configuration: number;
  /** The lane's watermark after the batch is settled. */
  readonly reached: number;
  readonly changes: readonly {
    readonly sequence: number;
    /** The number of the replay that emits the change; 0 for the change's own delivery. */
    readonly replay: number;
    /** Whether it is sent with the identity of its person. */
    readonly identity: boolean;
  }[];
}

/** Stores the intent of a lane. The caller has locked the lane's row. */
export async function keepIntent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, intent: Intent): Promise<void> {
  await tx.query(
    `insert into intents (sink_id, pigeonhole_number, reached, configuration, sequences, replays, identities)
     values ($1, $2, $3, $4, $5::int8[], $6::int4[], $7::boolean[])`,
    [
      sinkId,
      pigeonholeNumber,
      intent.reached,
      intent.configuration,
      intent.changes.map(({ sequence }) => sequence),
      intent.changes.map(({ replay }) => replay),
      intent.changes.map(({ identity }) => identity),
    ],
  );
}

/**
 * Deletes the intent of a lane. The caller has locked the lane's row.
 * @returns false if it has become deliveries since it was committed
 */
export async function endIntent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<boolean> {
  const rows = await tx.query(
    'delete from intents where sink_id = $1 and pigeonhole_number = $2 returning pigeonhole_number',
    [sinkId, pigeonholeNumber],
  );
  return rows.length > 0;
}

/**
 * Turns intents into deliveries that are `sending`, and moves the watermarks. The caller has locked these lanes. Call
 * this to find out what is being sent, or to take over from a holder that ended. A second run changes nothing.
 * @param sinkId the lane's sink; null: all lanes of the pigeonhole
 */
export async function openIntents(
  tx: Queryable,
  pigeonholeNumber: number,
  sinkId: number | null = null,
): Promise<void> {
  const intents = await tx.query<{ sink_id: number; reached: number }>(
    'select sink_id, reached from intents where pigeonhole_number = $1 and ($2::int4 is null or sink_id = $2)',
    [pigeonholeNumber, sinkId],
  );
  for (const { sink_id: id, reached } of intents) {
    const lane = { sinkId: id, pigeonholeNumber };
    await writeIntended(tx, lane);
    await moveWatermark(tx, lane, reached);
    await endIntent(tx, lane);
  }
}
