import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  type BatchInFlight,
  endBatchInFlight,
  type FirstDelivery,
  writeFirstDeliveries,
} from '../ledger/batches-in-flight.js';
import { type LaneLease, lockLane } from '../ledger/lanes.js';
import { type ItemObject, type Settled, writeOutcomes, supersedeDead, settleReplayed } from './delivery-states.js';
import { noteReplayed } from './replays.js';

export interface LaneOutcome {
  /** Replaces the sink's memory; undefined: unchanged. */
  readonly memory: Readonly<Record<string, unknown>> | undefined;
  /** If the lane fails: the reason, and the wait before the next attempt. Null: it works. Undefined: unchanged. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  /**
   * True if the sink receives only the latest revision: a delivered revision then supersedes dead letters of older
   * ones.
   */
  readonly onlyLatest: boolean;
  /** Number of deliveries that the destination accepted, including those of replays. */
  readonly delivered: number;
  /** The batch, if its deliveries are not written yet. */
  readonly unwritten?: BatchInFlight | undefined;
  /** Replaces the lane's recent decisions; undefined: unchanged. */
  readonly recent?: string | undefined;
}

/**
 * Commits the outcomes of a batch.
 * @throws {LedgerError} kind `stale` if another process took over the lane
 */
export async function finishBatch(
  ledger: Ledger,
  lease: LaneLease,
  settled: readonly Settled[],
  lane: LaneOutcome,
): Promise<void> {
  const delivered = settled.filter(({ state }) => state === 'delivered').map(({ sequence }) => sequence);
  const objects = settled.flatMap(({ object, siblings = [] }) => (object === undefined ? [] : [...siblings, object]));
  await ledger.db.transaction(
    async (tx) => {
      const { unwritten } = lane;
      await lockLane(tx, lease); // before the row of the batch: an erasure locks them in this order too
      const wasInFlight = unwritten !== undefined && (await endBatchInFlight(tx, lease));
      // The statements are sent together, because none needs the result of another.
      await Promise.all([
        (wasInFlight
          ? writeFirstDeliveries(tx, lease, unwritten, firstDeliveries(unwritten, settled))
          : writeOutcomes(tx, lease, settled)
        ).then(() => settleReplayed(tx, lease, settled)),
        noteReplayed(tx, lease, settled),
        lane.onlyLatest && supersedeDead(tx, lease, delivered),
        keepObjects(tx, lease, objects),
        noteOnLane(tx, lease, lane),
      ]);
    },
    { beginsByLocking: true },
  );
}

function firstDeliveries({ sent, others }: BatchInFlight, settled: readonly Settled[]): FirstDelivery[] {
  const outcomes = new Map(settled.map((each) => [each.sequence, each]));
  const settledNow = sent.map(({ sequence, list, key, revision, identity }) => {
    const { state, reason, detail, attempts, retryInMs } = outcomes.get(sequence)!;
    return { sequence, list, key, revision, identity, state, reason, detail, attempts, retryInMs };
  });
  return others.length === 0 ? settledNow : [...settledNow, ...others].toSorted((a, b) => a.sequence - b.sequence);
}

async function noteOnLane(tx: Queryable, lease: LaneLease, lane: LaneOutcome): Promise<void> {
  await tx.query(
    `update lanes set memory = coalesce($3::json, memory),
         failure = case when $7 then $4::text else failure end,
         failing_since = case when not $7 then failing_since
           when $4::text is not null then coalesce(failing_since, clock_timestamp()) end,
         retry_at = case when $7 then clock_timestamp() + $5::float8 * interval '1 millisecond' else retry_at end,
         delivered = delivered + $6::int,
         filling_at = case when filling_at is not null and $7 and $4::text is null then clock_timestamp() else filling_at end,
         delivered_at = case when $6::int > 0 then clock_timestamp() else delivered_at end,
         recent = coalesce($8::text, recent)
       where sink_id = $1 and ref = $2`,
    [
      lease.sinkId,
      lease.ref,
      lane.memory === undefined ? null : JSON.stringify(lane.memory),
      lane.failing?.detail ?? null,
      lane.failing?.retryInMs ?? null,
      lane.delivered,
      lane.failing !== undefined,
      lane.recent ?? null,
    ],
  );
}

/**
 * Stores each item's `object`: its ids and state at the destination. If an item was settled twice in a batch, its last
 * object counts.
 */
async function keepObjects(tx: Queryable, { sinkId, ref }: LaneLease, objects: readonly ItemObject[]): Promise<void> {
  if (objects.length === 0) return;
  const last = [...new Map(objects.map((each) => [JSON.stringify([each.list, each.key]), each])).values()];
  const gone = last.filter(({ value }) => value === null);
  const kept = last.filter(({ value }) => value !== null);
  if (gone.length > 0) {
    await tx.query(
      `delete from sink_objects where ctid = any(array(
         select o.at from unnest($3::text[], $4::text[]) as n (list, key) cross join lateral (select ctid as at
           from sink_objects where sink_id = $1 and ref = $2 and list = n.list and key = n.key limit 1) o))`,
      [sinkId, ref, gone.map(({ list }) => list), gone.map(({ key }) => key)],
    );
  }
  if (kept.length === 0) return;
  await tx.query(
    `insert into sink_objects (sink_id, ref, list, key, object)
     select $1, $2, n.list, n.key, n.object::json from unnest($3::text[], $4::text[], $5::text[]) as n (list, key, object)
     on conflict (sink_id, ref, list, key) do update set object = excluded.object, updated_at = clock_timestamp()`,
    [
      sinkId,
      ref,
      kept.map(({ list }) => list),
      kept.map(({ key }) => key),
      kept.map(({ value }) => JSON.stringify(value)),
    ],
  );
}
