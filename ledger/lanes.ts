import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import type { LaneLease } from './lanes-leased.js';

/* With lanes-leased.ts the owner of the table `lanes`: every statement that writes it. */

/** The reason for withholding a change of a list that the sink no longer receives. */
export const listNotWanted = 'list-not-wanted';

export type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

export interface LaneWork {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Milliseconds until there is something to do; 0 or less: now. Null: nothing is left. */
  readonly dueInMs: number | null;
  /** True if this lane fails and another lane has delivered since the failure started. The sink is then not at fault. */
  readonly otherLanesDeliver: boolean;
  /** True if the sink has ever delivered something on one of the lanes that `laneWork` was asked about. */
  readonly hasDelivered: boolean;
}

interface LanesOfSink {
  readonly sinkId: number;
  readonly pigeonholeNumbers: readonly number[];
  readonly configuration: number;
  readonly order: 'item' | 'pigeonhole';
}

/**
 * Returns when each lane of a sink in these pigeonholes is due, the least recently tried lane first. On a lane that
 * keeps one order for all items, new changes and replays wait for deliveries that the sink has postponed.
 */
export async function laneWork(
  ledger: Ledger,
  { sinkId, pigeonholeNumbers, configuration, order }: LanesOfSink,
): Promise<LaneWork[]> {
  return await ledger.db.query<LaneWork>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
       coalesce(l.failing_since < max(l.delivered_at) over (), false) as "otherLanesDeliver",
       max(l.delivered_at) over () is not null as "hasDelivered", extract(epoch from
         case when l.owner is not null then l.lease_expires_at -- once it has ended, deliveries in flight have to be settled
              when l.retry_at > now() then l.retry_at
              when l.configuration is distinct from $3 then now() -- the lists that the sink receives may have changed
              when p.next_sequence - 1 > coalesce(l.watermark, 0)
                or exists (select 1 from replay_lanes r where r.sink_id = $1
                  and r.pigeonhole_number = p.pigeonhole_number and r.done_at is null)
                then case when $4::boolean then coalesce(l.due_at, now()) else now() end
              else l.due_at end - now())::float8 * 1000 as "dueInMs"
     from pigeonholes p left join lanes l on l.pigeonhole_number = p.pigeonhole_number and l.sink_id = $1
     where p.pigeonhole_number = any($2::int[])
     order by greatest(l.delivered_at, l.retry_at) nulls first, p.pigeonhole_number`,
    [sinkId, pigeonholeNumbers, configuration, order === 'pigeonhole'],
  );
}

/**
 * Adds the missing lanes of these sinks in a pigeonhole. Call it before the pigeonhole is read. A sink that has a lane
 * from the start receives every revision; a sink that is added later starts with the last change of each item.
 */
export async function ensureLanes(ledger: Ledger, pigeonholeNumber: number, sinkIds: readonly number[]): Promise<void> {
  const missing = await ledger.db.query<{ id: number }>(
    `select id from unnest($2::int4[]) as s (id)
     where not exists (select 1 from lanes l where l.sink_id = s.id and l.pigeonhole_number = $1)`,
    [pigeonholeNumber, sinkIds],
  );
  for (const { id } of missing) await addLane(ledger.db, id, pigeonholeNumber);
}

/**
 * Adds a lane and stores the current sequence. Of the changes up to that sequence, the sink receives only the last one
 * of each item, and only if it is not older than the sink's `history`. A second call changes nothing.
 *
 * A new lane waits for any transaction that has locked the pigeonhole's row. Otherwise it could read data that is being
 * erased, because an erasure locks only the lanes that it found (`lock-order.ts`).
 */
export async function addLane(tx: Queryable, sinkId: number, pigeonholeNumber: number): Promise<void> {
  const known = await tx.query('select 1 from lanes where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
  ]);
  if (known.length > 0) return;
  await tx.query(
    `with place as materialized (select pigeonhole_number, next_sequence from pigeonholes
       where pigeonhole_number = $2 for share)
     insert into lanes (sink_id, pigeonhole_number, history_until, history_since, watermark)
     select s.id, p.pigeonhole_number, p.next_sequence - 1, now() - s.history_ms * interval '1 millisecond',
       case when s.history_ms = 0 then p.next_sequence - 1 else 0 end
     from sinks s, place p where s.id = $1 on conflict (sink_id, pigeonhole_number) do nothing`,
    [sinkId, pigeonholeNumber],
  );
}

/**
 * Marks these lanes as being filled. They are about to send old changes, so the age of a change does not mean that the
 * sink is behind.
 */
export async function markFilling(tx: Queryable, lanes: readonly LaneName[]): Promise<void> {
  await tx.query(
    `with locked as materialized (select sink_id, pigeonhole_number from lanes
       where (sink_id, pigeonhole_number) in (select * from unnest($1::int4[], $2::int4[]))
         order by sink_id, pigeonhole_number for update)
     update lanes l set filling_at = clock_timestamp() from locked where l.sink_id = locked.sink_id
       and l.pigeonhole_number = locked.pigeonhole_number`,
    [lanes.map(({ sinkId }) => sinkId), lanes.map(({ pigeonholeNumber }) => pigeonholeNumber)],
  );
}

/** Moves the watermark of a lane forward, never back. The caller has locked the lane's row. */
export async function moveWatermark(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  reached: number,
): Promise<void> {
  await tx.query('update lanes set watermark = greatest(watermark, $3) where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
    reached,
  ]);
}

/** Makes these lanes due now, with old changes to send (`markFilling`). The caller has locked them, or locks one alone. */
export async function makeDue(tx: Queryable, lanes: readonly LaneName[]): Promise<void> {
  await tx.query(
    `update lanes l set due_at = now(), filling_at = clock_timestamp()
     from unnest($1::int4[], $2::int4[]) as n (sink_id, pigeonhole_number) where l.sink_id = n.sink_id
       and l.pigeonhole_number = n.pigeonhole_number`,
    [lanes.map(({ sinkId }) => sinkId), lanes.map(({ pigeonholeNumber }) => pigeonholeNumber)],
  );
}

/**
 * Ends the waits of a sink's lanes. They become due a millisecond apart, in their former order. If all had the same
 * time, every attempt would start with the same lane, and a lane that always fails would block the others. The caller
 * has locked the lanes.
 */
export async function endWaits(tx: Queryable, sinkId: number): Promise<void> {
  await tx.query(
    `update lanes l set due_at = least(l.due_at, now()),
       retry_at = case when l.retry_at > now() then now() - o.place * interval '1 millisecond' else l.retry_at end
     from (select pigeonhole_number, row_number() over (order by retry_at desc nulls last,
       pigeonhole_number desc) - 1 as place
       from lanes where sink_id = $1) o
     where l.sink_id = $1 and l.pigeonhole_number = o.pigeonhole_number`,
    [sinkId],
  );
}

/** Replaces the recent decisions of a lane. */
export async function keepRecent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, recent: string): Promise<void> {
  await tx.query('update lanes set recent = $3 where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
    recent,
  ]);
}

/** Stores that a lane has taken over a configuration. It is about to send old changes (`markFilling`). */
export async function keepConfiguration(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  {
    configuration,
    lists,
    settings,
    recent,
  }: Pick<LaneLease, 'lists' | 'settings' | 'recent'> & { configuration: number },
): Promise<void> {
  await tx.query(
    `update lanes set configuration = $3, lists = $4, settings = $5, recent = $6, filling_at = clock_timestamp()
     where sink_id = $1 and pigeonhole_number = $2`,
    [sinkId, pigeonholeNumber, configuration, lists.join(' '), settings, recent],
  );
}

/** Stores up to which sequence a lane was observed, and under which configuration. */
export async function noteObserved(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  { reached, configuration }: { readonly reached: number; readonly configuration: number },
): Promise<void> {
  await tx.query(
    'update lanes set observed = $3, observed_configuration = $4 where sink_id = $1 and pigeonhole_number = $2',
    [sinkId, pigeonholeNumber, reached, configuration],
  );
}

/** Locks the lanes that were observed, in the order of lock-order.ts. */
export async function lockObserved(tx: Queryable): Promise<void> {
  await tx.query('select 1 from lanes where observed is not null order by sink_id, pigeonhole_number for update');
}

/** Forgets the observation of the lanes of all sinks but these. The caller has locked the lanes. */
export async function forgetObserved(tx: Queryable, exceptSinkIds: readonly number[]): Promise<void> {
  await tx.query('update lanes set observed = null where observed is not null and sink_id <> all($1::int4[])', [
    exceptSinkIds,
  ]);
}

/** The effect of a batch on its lane. */
export interface LaneOutcome {
  /** If the lane fails: the reason, and the wait before its next attempt. Null: it works. Undefined: unchanged. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  /** Number of deliveries that the destination accepted, including replays. */
  readonly delivered: number;
  /** Replaces the sink's memory; undefined: unchanged. */
  readonly memory: Readonly<Record<string, unknown>> | undefined;
  /** Replaces the lane's recent decisions; undefined: unchanged. */
  readonly recent?: string | undefined;
  /** The watermark, unless it is further; undefined: unchanged. */
  readonly reached: number | undefined;
}

export async function noteOnLane(tx: Queryable, lease: LaneLease, lane: LaneOutcome): Promise<void> {
  await tx.query(
    `update lanes set memory = coalesce($3::json, memory),
         failure = case when $7 then $4::text else failure end,
         failing_since = case when not $7 then failing_since
           when $4::text is not null then coalesce(failing_since, clock_timestamp()) end,
         retry_at = case when $7 then clock_timestamp() + $5::float8 * interval '1 millisecond' else retry_at end,
         delivered = delivered + $6::int,
         filling_at = case when filling_at is not null and $7 and $4::text is null then clock_timestamp() else filling_at end,
         delivered_at = case when $6::int > 0 then clock_timestamp() else delivered_at end,
         recent = coalesce($8::text, recent), watermark = greatest(watermark, $9::int8)
       where sink_id = $1 and pigeonhole_number = $2`,
    [
      lease.sinkId,
      lease.pigeonholeNumber,
      lane.memory === undefined ? null : JSON.stringify(lane.memory),
      lane.failing?.detail ?? null,
      lane.failing?.retryInMs ?? null,
      lane.delivered,
      lane.failing !== undefined,
      lane.recent ?? null,
      lane.reached ?? null,
    ],
  );
}
