import type { Ledger } from '../ledger/ledger.js';
import { byOrder } from '../ledger/addressed-indexes.js';
import { markFilling, type LaneLease } from '../ledger/lanes.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { type CandidateRow, replayedChanges } from './candidates.js';

export interface ReplayRequest {
  /** UUID chosen by the requester, so that a repeated request is one replay; part of each emitted change envelope. */
  readonly id: string;
  /** The lanes on which the replay emits items: each sink in each of its pigeonholes. */
  readonly lanes: readonly { readonly sinkId: number; readonly ref: number }[];
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
      `insert into replay_lanes (replay, sink_id, ref, until)
       select $1, n.sink_id, n.ref, p.next_sequence - 1
       from unnest($2::int4[], $3::int4[]) as n (sink_id, ref) join pigeonholes p on p.ref = n.ref`,
      [row.number, replay.lanes.map(({ sinkId }) => sinkId), replay.lanes.map(({ ref }) => ref)],
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
  /** Number of items emitted so far. `open` of them are not settled. */
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
       sum(l.emitted)::int as taken,
       coalesce(sum(o.open), 0)::int as open
     from replay_lanes l join replays r on r.number = l.replay
       join sinks k on k.id = l.sink_id and k.archived_at is null
       left join open o on o.sink_id = l.sink_id and o.ref = l.ref and o.replay = l.replay
     group by r.number, k.name having bool_or(l.done_at is null) or coalesce(sum(o.open), 0) > 0
     order by r.number, k.name`,
  );
}

/**
 * Emits the next items of a lane's oldest unfinished replay, in the transaction that locks the lane.
 * @param lists the lists that the sink receives now; a replay emits no others, whatever was requested
 * @param limit maximum number of rows
 * @returns `done` if this replay has emitted all its items on the lane
 */
export async function continueReplay(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  lists: readonly string[],
  limit: number,
): Promise<{ readonly rows: CandidateRow[]; readonly done: boolean }> {
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
  const done = reached >= replay.until;
  await tx.query(
    `update replay_lanes set position = $4, emitted = emitted + $5, done_at = case when $6 then clock_timestamp() end
     where replay = $1 and sink_id = $2 and ref = $3`,
    [replay.number, sinkId, ref, reached, rows.length, done],
  );
  return { rows, done };
}
