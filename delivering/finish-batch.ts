import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { byItem, byOrder, knownDelivery } from '../ledger/addressed-indexes.js';
import { type BegunBatch, endBegunBatch, type FirstDelivery, writeFirstDeliveries } from '../ledger/begun-batches.js';
import { type LaneLease, lockLane } from '../ledger/lanes.js';

/**
 * The result of one delivery. `waiting`: not sent, due again immediately; `retry`: due again after `retryInMs`;
 * `sending`: outcome unknown, looked up after `retryInMs` or when the lane is taken over; `withheld`: the sink had nothing
 * to do.
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
  /** The object at the destination, if it changed; value null: nothing is left there. */
  readonly object?: {
    readonly list: string;
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>> | null;
  };
}

export interface LaneOutcome {
  /** Replaces the sink's memory; undefined: unchanged. */
  readonly memory: Readonly<Record<string, unknown>> | undefined;
  /** The lane fails: the reason, and the wait before the next attempt. Null: it works. Undefined: unchanged. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  /** The sink receives only the latest revision: a delivered revision supersedes dead letters of older ones. */
  readonly onlyLatest: boolean;
  /** Deliveries that the destination accepted, those of replays included. */
  readonly delivered: number;
  /** The batch, if its deliveries are not written yet. */
  readonly begun?: BegunBatch | undefined;
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
  const objects = settled.flatMap(({ object }) => (object === undefined ? [] : [object]));
  await ledger.db.transaction(
    async (tx) => {
      const { begun } = lane;
      await lockLane(tx, lease); // before the row of the batch, which an erasure locks in this order
      const isBegun = begun !== undefined && (await endBegunBatch(tx, lease));
      // Pipelined: none needs another's result.
      await Promise.all([
        (isBegun
          ? writeFirstDeliveries(tx, lease, begun, firstDeliveries(begun, settled))
          : writeOutcomes(tx, lease, settled)
        ).then(() => settleReplayed(tx, lease, settled)),
        lane.onlyLatest && supersedeDead(tx, lease, delivered),
        keepObjects(tx, lease, objects),
        noteOnLane(tx, lease, lane),
      ]);
    },
    { beginsByLocking: true },
  );
}

function firstDeliveries({ sent, others }: BegunBatch, settled: readonly Settled[]): FirstDelivery[] {
  const outcomes = new Map(settled.map((each) => [each.sequence, each]));
  const settledNow = sent.map(({ sequence, list, key, revision, identity }) => {
    const { state, reason, detail, attempts, retryInMs } = outcomes.get(sequence)!;
    return { sequence, list, key, revision, identity, state, reason, detail, attempts, retryInMs };
  });
  return others.length === 0 ? settledNow : [...settledNow, ...others].toSorted((a, b) => a.sequence - b.sequence);
}

async function writeOutcomes(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  const plain = new Map<number, number[]>();
  const others: Settled[] = [];
  for (const each of settled) {
    const isPlain = each.state === 'delivered' && each.replay === 0 && each.detail === null && each.reason === null;
    if (!isPlain) {
      others.push(each);
      continue;
    }
    const sequences = plain.get(each.attempts);
    if (sequences === undefined) plain.set(each.attempts, [each.sequence]);
    else sequences.push(each.sequence);
  }
  await Promise.all([
    ...[...plain].map(([attempts, sequences]) => writeDelivered(tx, lease, attempts, sequences)),
    others.length > 0 && writeEach(tx, lease, others),
  ]);
}

/** The common case: finds rows by the index of `sending` deliveries, in two thirds of the time. */
async function writeDelivered(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  attempts: number,
  sequences: readonly number[],
): Promise<void> {
  await tx.query(
    `update deliveries d set state = 'delivered', reason = null, detail = null, attempts = $3, due_at = null,
       updated_at = clock_timestamp()
     where ${byOrder('d', '$1', '$2')} and d.state = 'sending' and d.sequence >= $4::int8 and d.sequence <= $5::int8
       and d.replay = 0 and d.sequence = any($6::int8[])`,
    [
      sinkId,
      ref,
      attempts,
      sequences.reduce((a, c) => Math.min(a, c)),
      sequences.reduce((a, c) => Math.max(a, c)),
      sequences,
    ],
  );
}

/**
 * Writes outcomes of all kinds. If the item was erased while this change was being sent, its row ends as
 * `forgetDeliveries` leaves the others: without the destination's text, and never sent again. The item's last change
 * is its removal and keeps its outcome.
 */
async function writeEach(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, detail,
         attempts, due_at, updated_at)
       select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration,
         case when e.erased and n.state in ('waiting', 'retry', 'dead', 'withheld') then 'superseded' else n.state end,
         case when e.erased and n.state in ('waiting', 'retry', 'dead', 'withheld') then null else n.reason end,
         case when not e.erased then n.detail end, n.attempts,
         case when not e.erased or n.state = 'sending'
           then clock_timestamp() + n.retry_in_ms * interval '1 millisecond' end,
         clock_timestamp()
       from unnest($3::int8[], $4::int4[], $5::text[], $6::text[], $7::text[], $8::int4[], $9::float8[])
         as n (sequence, replay, state, reason, detail, attempts, retry_in_ms) ${knownDelivery}
         cross join lateral (select coalesce((select i.erased and d.sequence < i.last_sequence from items i
           where i.ref = d.ref and i.list = d.list and i.key = d.key limit 1), false) as erased) e
       on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
         detail = excluded.detail, attempts = excluded.attempts, due_at = excluded.due_at,
         updated_at = excluded.updated_at`,
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
}

/** Supersedes dead letters of older revisions after a later one was delivered. */
async function supersedeDead(tx: Queryable, lease: LaneLease, delivered: readonly number[]): Promise<void> {
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, updated_at)
         select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'superseded',
           clock_timestamp()
         from unnest($3::int8[]) as p (sequence)
           cross join lateral (select list, key from deliveries where sink_id = $1 and ref = $2 and sequence = p.sequence
             and replay = 0 limit 1) n
           cross join lateral (select * from deliveries d where ${byItem('d', '$1', '$2')} and d.list = n.list
             and d.key = n.key and d.sequence < p.sequence and d.state = 'dead' offset 0) d
         on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = null,
           updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, delivered],
  );
}

/** The reason of a delivery that counts as delivered because a replay delivered its change. */
export const byReplay = 'by-replay';

/**
 * Marks withheld and dead deliveries as delivered if a replay delivered their change, with or without identity as in the
 * replay. The change then counts once, and is not sent again when the cause is resolved.
 */
async function settleReplayed(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  const delivered = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, identity,
         attempts, updated_at)
       select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'delivered', '${byReplay}',
         r.identity, d.attempts, clock_timestamp()
       from unnest($3::int8[], $4::int4[]) as n (sequence, replay)
         cross join lateral (select * from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay = 0 limit 1) d
         cross join lateral (select identity from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay = n.replay limit 1) r
       where d.state in ('withheld', 'dead')
       on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
         detail = null, identity = excluded.identity, due_at = null, updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, delivered.map(({ sequence }) => sequence), delivered.map(({ replay }) => replay)],
  );
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

/** Stores the sink's objects. If an item was settled twice in a batch, the last object counts. */
async function keepObjects(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  objects: readonly NonNullable<Settled['object']>[],
): Promise<void> {
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
