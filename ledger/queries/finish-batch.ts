import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { type LaneLease, lockLane } from './lanes.js';

/**
 * What became of one delivery. `waiting`: not sent, due again at once; `retry`: due again in `retryInMs`; `sending`:
 * nobody knows yet, to be looked up (in `retryInMs`, or as soon as the lane is taken over); `withheld`: the sink had
 * nothing to do.
 */
export interface Settled {
  readonly sequence: number;
  /** The number of the replay that emitted it; 0: none. */
  readonly replay: number;
  readonly state: 'delivered' | 'waiting' | 'retry' | 'sending' | 'withheld' | 'dead';
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly retryInMs: number | null;
  /** What the sink has made of the item, where that has changed; value null: nothing is left. */
  readonly object?: {
    readonly list: string;
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>> | null;
  };
}

export interface LaneOutcome {
  /** Replaces what the sink had remembered; undefined: unchanged. */
  readonly memory: Readonly<Record<string, unknown>> | undefined;
  /** Nothing passes: why, and when to try again. Null: it does. Undefined: nothing was tried, and all stays as it was. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  /** The sink wants only the latest revision: an older one that it refused is of no interest once a later one has passed. */
  readonly onlyLatest: boolean;
  /** Changes delivered by themselves; what replays emit is counted with the replay. */
  readonly delivered: number;
}

/** Commits the outcomes of a batch. @throws {LedgerError} kind `stale` when the lane was taken over meanwhile */
export async function finishBatch(
  ledger: Ledger,
  lease: LaneLease,
  settled: readonly Settled[],
  lane: LaneOutcome,
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await lockLane(tx, lease);
    await tx.query(
      `update deliveries d set state = n.state, reason = n.reason, detail = n.detail, attempts = n.attempts,
         due_at = clock_timestamp() + n.retry_in_ms * interval '1 millisecond', updated_at = clock_timestamp()
       from unnest($3::int8[], $4::int4[], $5::text[], $6::text[], $7::text[], $8::int4[], $9::float8[])
         as n (sequence, replay, state, reason, detail, attempts, retry_in_ms)
       where d.sink_id = $1 and d.ref = $2 and d.sequence = n.sequence and d.replay = n.replay`,
      [
        lease.sinkId,
        lease.ref,
        settled.map(({ sequence }) => sequence),
        settled.map(({ replay }) => replay),
        settled.map(({ state }) => state),
        settled.map(({ reason }) => reason),
        settled.map(({ detail }) => detail),
        settled.map(({ attempts }) => attempts),
        settled.map(({ retryInMs }) => retryInMs),
      ],
    );
    if (lane.onlyLatest) {
      await tx.query(
        `update deliveries d set state = 'superseded', reason = null, updated_at = clock_timestamp()
         from deliveries n join unnest($3::int8[]) as p (sequence) on p.sequence = n.sequence
         where n.sink_id = $1 and n.ref = $2 and n.replay = 0 and d.sink_id = $1 and d.ref = $2 and d.list = n.list
           and d.key = n.key and d.sequence < n.sequence and d.state = 'dead'`,
        [lease.sinkId, lease.ref, settled.filter(({ state }) => state === 'delivered').map(({ sequence }) => sequence)],
      );
    }
    await keepObjects(
      tx,
      lease,
      settled.flatMap(({ object }) => (object === undefined ? [] : [object])),
    );
    await tx.query(
      `update lanes set memory = coalesce($3::json, memory),
         failure = case when $7 then $4::text else failure end,
         failing_since = case when not $7 then failing_since
           when $4::text is not null then coalesce(failing_since, clock_timestamp()) end,
         retry_at = case when $7 then clock_timestamp() + $5::float8 * interval '1 millisecond' else retry_at end,
         delivered = delivered + $6::int,
         delivered_at = case when $6::int > 0 then clock_timestamp() else delivered_at end
       where sink_id = $1 and ref = $2`,
      [
        lease.sinkId,
        lease.ref,
        lane.memory === undefined ? null : JSON.stringify(lane.memory),
        lane.failing?.detail ?? null,
        lane.failing?.retryInMs ?? null,
        lane.delivered,
        lane.failing !== undefined,
      ],
    );
  });
}

/** The last word counts where an item was settled twice in a batch. */
async function keepObjects(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  objects: readonly NonNullable<Settled['object']>[],
): Promise<void> {
  if (objects.length === 0) return;
  const last = [...new Map(objects.map((each) => [JSON.stringify([each.list, each.key]), each])).values()];
  await tx.query(
    `with n as (select * from unnest($3::text[], $4::text[], $5::text[]) as n (list, key, object)),
       gone as (delete from sink_objects o using n
         where o.sink_id = $1 and o.ref = $2 and o.list = n.list and o.key = n.key and n.object is null)
     insert into sink_objects (sink_id, ref, list, key, object)
     select $1, $2, n.list, n.key, n.object::json from n where n.object is not null
     on conflict (sink_id, ref, list, key) do update set object = excluded.object, updated_at = clock_timestamp()`,
    [
      sinkId,
      ref,
      last.map(({ list }) => list),
      last.map(({ key }) => key),
      last.map(({ value }) => (value === null ? null : JSON.stringify(value))),
    ],
  );
}
