import type { Queryable } from './drivers/database.js';
import { columnOf, encodeColumn, type SqlValue } from './drivers/sql-values.js';
import { readableJson } from './sql-expressions.js';

type LaneName = { readonly sinkId: number; readonly ref: number };

/*
 * A batch of new changes that a lane is about to send is stored as one row per lane (decision 0053). The row says which
 * changes are sent, whether each is sent with the identity, and what was decided about the other changes of the batch.
 * It is committed before the first call to the sink. The deliveries are inserted, and the watermark moves, when the
 * outcomes are known.
 *
 * If the holder of the lane ends before that, or another step must know what is being sent, the row is expanded to
 * deliveries that are `sending`, as if they had been inserted from the start.
 */

/** A delivery that is written for the first time. */
export interface FirstDelivery {
  readonly sequence: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly identity: boolean | null;
  readonly attempts: number;
  readonly retryInMs: number | null;
}

/** A batch whose deliveries are not written yet. */
export interface BatchInFlight {
  readonly configuration: number;
  /** The lane's watermark after the batch is settled. */
  readonly reached: number;
  /** Changes that are being sent, in the order of their sequences. */
  readonly sent: readonly Pick<FirstDelivery, 'sequence' | 'list' | 'key' | 'revision' | 'identity'>[];
  /** Changes that are not sent: withheld, superseded or dead letters. */
  readonly others: readonly FirstDelivery[];
}

/** Stores a batch that is about to be sent. Replaces a row that a process of an older version left behind. */
export async function saveBatchInFlight(tx: Queryable, { sinkId, ref }: LaneName, batch: BatchInFlight): Promise<void> {
  await tx.query(
    `insert into begun_batches (sink_id, ref, reached, configuration, sequences, identities, others)
     values ($1, $2, $3, $4, $5::int8[], $6::boolean[], $7::json)
     on conflict (sink_id, ref) do update set reached = excluded.reached, configuration = excluded.configuration,
       begun_at = excluded.begun_at, sequences = excluded.sequences, identities = excluded.identities,
       others = excluded.others`,
    [
      sinkId,
      ref,
      batch.reached,
      batch.configuration,
      batch.sent.map(({ sequence }) => sequence),
      batch.sent.map(({ identity }) => identity),
      JSON.stringify(batch.others.map(({ sequence, state, reason, detail }) => ({ sequence, state, reason, detail }))),
    ],
  );
}

/**
 * Deletes the row of a lane's batch in flight. The caller has locked the lane's row.
 * @returns false if the batch has been expanded to deliveries since it was committed
 */
export async function endBatchInFlight(tx: Queryable, { sinkId, ref }: LaneName): Promise<boolean> {
  const rows = await tx.query('delete from begun_batches where sink_id = $1 and ref = $2 returning ref', [sinkId, ref]);
  return rows.length > 0;
}

/**
 * Expands batches in flight to deliveries that are `sending`, and moves the watermarks. The caller has locked these
 * lanes. Call this to find out what is being sent, or to take over from a holder that ended. A second run changes
 * nothing.
 * @param sinkId the lane's sink; null: all lanes of the pigeonhole
 */
export async function expandBatchesInFlight(tx: Queryable, ref: number, sinkId: number | null = null): Promise<void> {
  const begun = await tx.query<{ sink_id: number; reached: number }>(
    'select sink_id, reached from begun_batches where ref = $1 and ($2::int4 is null or sink_id = $2)',
    [ref, sinkId],
  );
  for (const { sink_id: id, reached } of begun) {
    await tx.query(
      `with batch as materialized (select * from begun_batches where sink_id = $1 and ref = $2),
         decided (sequence, state, reason, detail, identity) as (
           select s.sequence, 'sending', null, null, s.identity
           from batch b cross join lateral unnest(b.sequences, b.identities) as s (sequence, identity)
           union all
           select o.sequence, o.state, o.reason, o.detail, null
           from batch b cross join lateral json_to_recordset(${readableJson('b.others')})
             as o (sequence int8, state text, reason text, detail text))
       insert into deliveries (sink_id, ref, configuration, updated_at, sequence, list, key, revision, state, reason,
         detail, identity)
       select b.sink_id, b.ref, b.configuration, b.begun_at, d.sequence, c.list, c.key, c.revision, d.state, d.reason,
         d.detail, d.identity
       from batch b cross join decided d
         cross join lateral (select * from changes where ref = b.ref and sequence = d.sequence limit 1) c
       on conflict (sink_id, ref, sequence, replay) do nothing`,
      [id, ref],
    );
    const lane = { sinkId: id, ref };
    await moveWatermark(tx, lane, reached);
    await endBatchInFlight(tx, lane);
  }
}

/** Inserts the deliveries of a batch together with their outcomes, and moves the watermark. */
export async function writeFirstDeliveries(
  tx: Queryable,
  { sinkId, ref }: LaneName,
  { configuration, reached }: Pick<BatchInFlight, 'configuration' | 'reached'>,
  rows: readonly FirstDelivery[],
): Promise<void> {
  const lists = scalarOrColumn('text', rows, ({ list }) => list);
  const revisions = scalarOrColumn('int4', rows, ({ revision }) => revision);
  const states = scalarOrColumn('text', rows, ({ state }) => state);
  const attempts = scalarOrColumn('int4', rows, (row) => row.attempts);
  const identities = scalarOrColumn('boolean', rows, ({ identity }) => identity);
  await Promise.all([
    tx.query(
      `insert into deliveries (sink_id, ref, configuration, updated_at, sequence, key, list, revision, state, attempts,
         identity, reason, detail, due_at)
       select $1, $2, $3, clock_timestamp(), n.sequence, n.key, coalesce(n.list, $4), coalesce(n.revision, $5),
         coalesce(n.state, $6), coalesce(n.attempts, $7), coalesce(n.identity, $8), n.reason, n.detail,
         clock_timestamp() + n.retry_in_ms * interval '1 millisecond'
       from unnest($9::int8[], $10::text[], $11::text[], $12::int4[], $13::text[], $14::int4[], $15::boolean[],
         $16::text[], $17::text[], $18::float8[])
         as n (sequence, key, list, revision, state, attempts, identity, reason, detail, retry_in_ms)`,
      [
        sinkId,
        ref,
        configuration,
        lists.all,
        revisions.all,
        states.all,
        attempts.all,
        identities.all,
        columnOf('int8', rows, ({ sequence }) => sequence),
        columnOf('text', rows, ({ key }) => key),
        lists.each,
        revisions.each,
        states.each,
        attempts.each,
        identities.each,
        columnOf('text', rows, ({ reason }) => reason),
        columnOf('text', rows, ({ detail }) => detail),
        columnOf('float8', rows, ({ retryInMs }) => retryInMs),
      ],
    ),
    moveWatermark(tx, { sinkId, ref }, reached),
  ]);
}

/** Moves the watermark of a lane forward, never back. The caller has locked the lane's row. */
export async function moveWatermark(tx: Queryable, { sinkId, ref }: LaneName, reached: number): Promise<void> {
  await tx.query('update lanes set watermark = greatest(watermark, $3) where sink_id = $1 and ref = $2', [
    sinkId,
    ref,
    reached,
  ]);
}

/**
 * Returns the values of a column as one scalar (`all`) if they are equal, which they usually are, and otherwise as an
 * array (`each`). A scalar needs neither encoding nor `unnest`.
 */
function scalarOrColumn(
  type: string,
  rows: readonly FirstDelivery[],
  value: (row: FirstDelivery) => SqlValue,
): { readonly all: SqlValue; readonly each: SqlValue } {
  const values = rows.map(value);
  const first = values[0] ?? null;
  return first !== null && values.every((each) => each === first)
    ? { all: first, each: encodeColumn(type, []) }
    : { all: null, each: encodeColumn(type, values) };
}
