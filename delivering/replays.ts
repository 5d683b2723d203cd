import type { Ledger } from '../ledger/ledger.js';
import { byOrder } from '../ledger/addressed-indexes.js';
import { markFilling, type LaneLease } from '../ledger/lanes.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { type CandidateRow, replayedChanges } from './candidates.js';

export interface ReplayRequest {
  /** UUID chosen by the requester, so that a repeated request is one replay; part of each emitted change envelope. */
  readonly id: string;
  /**
   * The lanes on which the replay emits items: each sink in each of its pigeonholes. `total`: the number of items that
   * the sink will probably receive.
   */
  readonly lanes: readonly { readonly sinkId: number; readonly ref: number; readonly total: number }[];
  /** Null: all lists that the sink receives. */
  readonly lists: readonly string[] | null;
  /** Only items whose last change was found at or after this time; null: all. */
  readonly from: Date | null;
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * Requests that stored items be sent again, each as of its newest change. Changes found after the request are delivered
 * as usual. The request is committed when this function returns, and the sinks' delivery cycles carry it out.
 * @returns false if a replay with this id already exists, in which case nothing changes
 */
export async function requestReplay(ledger: Ledger, replay: ReplayRequest): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    const [row] = await tx.query<{ number: number }>(
      `insert into replays (id, lists, from_at, requested_by, reason) select $1, $2, $3, $4, $5
       where not exists (select 1 from replays where id = $1)
       on conflict (id) do nothing returning number`,
      [replay.id, replay.lists?.join(' ') ?? null, replay.from, replay.by, replay.reason],
    );
    if (row === undefined) return false;
    await markFilling(tx, replay.lanes);
    await tx.query(
      `insert into replay_lanes (replay, sink_id, ref, until, total)
       select $1, n.sink_id, n.ref, p.next_sequence - 1, n.total
       from unnest($2::int4[], $3::int4[], $4::int4[]) as n (sink_id, ref, total) join pigeonholes p on p.ref = n.ref`,
      [
        row.number,
        replay.lanes.map(({ sinkId }) => sinkId),
        replay.lanes.map(({ ref }) => ref),
        replay.lanes.map(({ total }) => total),
      ],
    );
    return true;
  });
}

/** A replay that still has items to emit or to deliver. */
export interface OpenReplay {
  readonly id: string;
  readonly sink: string;
  readonly requestedAt: Date;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  /**
   * Number of items to send, counted when the replay was requested. Fewer are sent if items change or are deleted in the
   * meantime. Null if a previous version requested the replay.
   */
  readonly total: number | null;
  /** Number of items that the destination accepted. */
  readonly sent: number;
  /** Number of items passed to the sink so far. `open` of them are not settled. */
  readonly taken: number;
  readonly open: number;
}

export async function openReplays(ledger: Ledger): Promise<OpenReplay[]> {
  return await ledger.db.query<OpenReplay>(
    `with open as materialized (
       select l.sink_id, l.ref, d.replay, count(*) as open from (select distinct sink_id, ref from replay_lanes) l
         cross join lateral (
           select replay from deliveries d where ${byOrder('d', 'l.sink_id', 'l.ref')} and d.state in ('waiting', 'retry')
             and d.replay > 0
           union all
           select replay from deliveries d where ${byOrder('d', 'l.sink_id', 'l.ref')} and d.state = 'sending'
             and d.replay > 0) d
       group by 1, 2, 3)
     select r.id, k.name as sink, r.requested_at as "requestedAt", r.requested_by as "requestedBy", r.reason,
       case when bool_and(l.total is not null) then greatest(sum(l.total), sum(l.sent) + coalesce(sum(o.open), 0))::int end
         as total,
       sum(l.sent)::int as sent, sum(l.emitted)::int as taken, coalesce(sum(o.open), 0)::int as open
     from replay_lanes l join replays r on r.number = l.replay
       join sinks k on k.id = l.sink_id and k.archived_at is null
       left join open o on o.sink_id = l.sink_id and o.ref = l.ref and o.replay = l.replay
     group by r.number, k.name having bool_or(l.done_at is null) or coalesce(sum(o.open), 0) > 0
     order by r.number, k.name`,
  );
}

/** The next items of a replay on a lane, and the position that the lane then has in it. */
interface NextReplayed {
  readonly rows: CandidateRow[];
  /** True if this replay has emitted all its items on the lane. */
  readonly done: boolean;
  /** The replay; undefined if none is open on the lane. */
  readonly replay?: { readonly number: number; readonly reached: number };
}

/**
 * Reads the next items of a lane's oldest unfinished replay, in the transaction that locks the lane. `noteEmitted`
 * stores that they were emitted.
 * @param lists the lists that the sink receives now; a replay emits no others, whatever was requested
 * @param limit maximum number of rows
 */
export async function nextReplayed(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  lists: readonly string[],
  limit: number,
): Promise<NextReplayed> {
  const [replay] = await tx.query<{
    number: number;
    id: string;
    lists: string | null;
    from_at: Date | null;
    until: number;
    position: number;
  }>(
    `select r.number, r.id, r.lists, r.from_at, l.until, l.position
     from replay_lanes l join replays r on r.number = l.replay
     where l.sink_id = $1 and l.ref = $2 and l.done_at is null order by l.replay limit 1`,
    [sinkId, ref],
  );
  if (replay === undefined) return { rows: [], done: true };
  const requested = replay.lists?.split(' ');
  const { rows, reached } = await replayedChanges(
    tx,
    {
      sinkId,
      ref,
      lists: requested === undefined ? lists : lists.filter((list) => requested.includes(list)),
      after: replay.position,
      until: replay.until,
      from: replay.from_at,
      replay: replay.number,
      replayId: replay.id,
    },
    limit,
  );
  return { rows, done: reached >= replay.until, replay: { number: replay.number, reached } };
}

/** Stores that a lane emitted these items of a replay. @param withheld number of items withheld, not passed to the sink */
export async function noteEmitted(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  { rows, done, replay }: NextReplayed,
  withheld: number,
): Promise<void> {
  if (replay === undefined) return;
  await tx.query(
    `update replay_lanes set position = $4, emitted = emitted + $5, done_at = case when $6 then clock_timestamp() end
     where replay = $1 and sink_id = $2 and ref = $3`,
    [replay.number, sinkId, ref, replay.reached, rows.length - withheld, done],
  );
}

/** Counts the items of replays that the destination accepted, in the transaction that commits these outcomes. */
export async function noteReplayed(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  settled: readonly { readonly replay: number; readonly state: string }[],
): Promise<void> {
  const sent = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (sent.length === 0) return;
  await tx.query(
    `update replay_lanes l set sent = l.sent + n.sent
     from (select replay, count(*)::int as sent from unnest($3::int4[]) as r (replay) group by replay) n
     where l.replay = n.replay and l.sink_id = $1 and l.ref = $2`,
    [sinkId, ref, sent.map(({ replay }) => replay)],
  );
}
