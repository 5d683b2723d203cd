import { groupBy } from '../base/grouping.js';
import type { Ledger } from '../ledger/ledger.js';
import type { OperatorTexts } from '../ledger/operator-texts.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { byOrder } from '../ledger/sql-expressions.js';
import { markFilling } from '../ledger/lanes.js';
import type { LaneLease } from '../ledger/lanes-leased.js';
import type { Queryable } from '../ledger/drivers/database.js';
import {
  blockedByOpen,
  type Candidate,
  candidateColumns,
  candidateJoins,
  type CandidateRow,
  type FoundChanges,
  maxSequencesPerRead,
  neverTried,
  toCandidates,
  withoutDelivery,
} from './candidates.js';

/** The reasons that operators gave for replays. */
export const replayReasons: OperatorTexts = {
  read: 'select distinct reason as text from replays where reason is not null',
  erase: 'update replays set reason = null where reason = any($1::text[])',
};

export interface ReplayRequest {
  /** UUID chosen by the requester, so that a repeated request is one replay; part of each emitted change envelope. */
  readonly id: string;
  /**
   * The lanes on which the replay emits items: each sink in each of its pigeonholes. `total`: the number of items that
   * the sink will probably receive.
   */
  readonly lanes: readonly { readonly sinkId: number; readonly pigeonholeNumber: number; readonly total: number }[];
  /** Null: all lists that the sink receives. */
  readonly lists: readonly string[] | null;
  /** Only these items of the one list; absent or null: all. */
  readonly keys?: readonly string[] | null;
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
      `insert into replays (id, lists, from_at, requested_by, reason, keys) select $1, $2, $3, $4, $5, $6::text[]
       where not exists (select 1 from replays where id = $1)
       on conflict (id) do nothing returning number`,
      [replay.id, replay.lists?.join(' ') ?? null, replay.from, replay.by, replay.reason, replay.keys ?? null],
    );
    if (row === undefined) return false;
    await markFilling(tx, replay.lanes);
    await tx.query(
      `insert into replay_lanes (replay, sink_id, pigeonhole_number, until, total)
       select $1, n.sink_id, n.pigeonhole_number, p.next_sequence - 1, n.total
       from unnest($2::int4[], $3::int4[], $4::int4[]) as n (sink_id, pigeonhole_number, total)
         join pigeonholes p on p.pigeonhole_number = n.pigeonhole_number`,
      [
        row.number,
        replay.lanes.map(({ sinkId }) => sinkId),
        replay.lanes.map(({ pigeonholeNumber }) => pigeonholeNumber),
        replay.lanes.map(({ total }) => total),
      ],
    );
    return true;
  });
}

/**
 * Adds a replay for a repair, which has no lanes yet (`addRepairLane`).
 * @returns undefined if a replay with this id already exists, in which case nothing changes
 */
export async function addRepair(
  tx: Queryable,
  { id, by, reason }: Pick<ReplayRequest, 'id' | 'by' | 'reason'>,
): Promise<number | undefined> {
  const [row] = await tx.query<{ number: number }>(
    `insert into replays (id, requested_by, reason, repair) select $1, $2, $3, true
     where not exists (select 1 from replays where id = $1)
     on conflict (id) do nothing returning number`,
    [id, by, reason],
  );
  return row?.number;
}

/** Lets a lane send the findings of a repair that are marked as sent. The caller has locked the lane. */
export async function addRepairLane(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: Pick<LaneLease, 'sinkId' | 'pigeonholeNumber'>,
  { repair, total }: { readonly repair: number; readonly total: number },
): Promise<void> {
  await tx.query(
    `insert into replay_lanes as l (replay, sink_id, pigeonhole_number, until, total)
     select $1, $2, $3, p.next_sequence - 1, $4 from pigeonholes p where p.pigeonhole_number = $3
     on conflict (replay, sink_id, pigeonhole_number) do update set until = excluded.until, position = 0, done_at = null,
       total = l.total + excluded.total`,
    [repair, sinkId, pigeonholeNumber, total],
  );
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
   * meantime.
   */
  readonly total: number;
  /** Number of items that the destination accepted. */
  readonly sent: number;
  /** Number of items passed to the sink so far. `open` of them are not settled. */
  readonly taken: number;
  readonly open: number;
}

/** The part of a replay on one lane. */
export interface LaneReplay extends OpenReplay, PigeonholeName {
  /** True if all items have been passed to the sink and are settled. */
  readonly isDone: boolean;
}

/** Returns the lanes of all replays that still have items to emit or to deliver, oldest replay first. */
export async function laneReplays(ledger: Ledger): Promise<LaneReplay[]> {
  return await ledger.db.query<LaneReplay>(
    `with open as materialized (
       select l.sink_id, l.pigeonhole_number, d.replay, count(*)::int as open
         from (select distinct sink_id, pigeonhole_number from replay_lanes) l
         cross join lateral (
           select replay from deliveries d where ${byOrder('d', 'l.sink_id', 'l.pigeonhole_number')}
             and d.state in ('waiting', 'retry') and d.replay > 0
           union all
           select replay from deliveries d where ${byOrder('d', 'l.sink_id', 'l.pigeonhole_number')}
             and d.state = 'sending' and d.replay > 0) d
       group by 1, 2, 3),
     unfinished as materialized (
       select distinct l.replay, l.sink_id from replay_lanes l
         left join open o on o.sink_id = l.sink_id and o.pigeonhole_number = l.pigeonhole_number and o.replay = l.replay
       where l.done_at is null or o.open > 0)
     select r.id, k.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId", r.requested_at as "requestedAt",
       r.requested_by as "requestedBy", r.reason, l.total, l.sent, l.emitted as taken, coalesce(o.open, 0) as open,
       l.done_at is not null and o.open is null as "isDone"
     from unfinished u join replay_lanes l on l.replay = u.replay and l.sink_id = u.sink_id
       join replays r on r.number = l.replay
       join sinks k on k.id = l.sink_id and k.archived_at is null
       join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       left join open o on o.sink_id = l.sink_id and o.pigeonhole_number = l.pigeonhole_number and o.replay = l.replay
     order by r.number, k.name, p.pigeonhole_number`,
  );
}

/** Adds up the lanes of each replay at each sink, and leaves out those that are done on all of these lanes. Pure. */
export function openReplays(lanes: readonly LaneReplay[]): OpenReplay[] {
  return [...groupBy(lanes, ({ id, sink }) => `${id} ${sink}`).values()]
    .filter((own) => own.some(({ isDone }) => !isDone))
    .map((own) => {
      const sum = (pick: (lane: LaneReplay) => number): number => own.reduce((total, lane) => total + pick(lane), 0);
      const { id, sink, requestedAt, requestedBy, reason } = own[0]!;
      const [sent, taken, open] = [sum((lane) => lane.sent), sum((lane) => lane.taken), sum((lane) => lane.open)];
      const counted = sum((lane) => lane.total);
      const total = Math.max(counted, sent + open);
      return { id, sink, requestedAt, requestedBy, reason, total, sent, taken, open };
    });
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
 * @param taking.lists the lists that the sink receives now; a replay emits no others, whatever was requested
 * @param taking.besides the new changes of the same batch; a replay waits for those of its items
 * @param limit maximum number of rows
 */
export async function nextReplayed(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneLease,
  { lists, besides }: { readonly lists: readonly string[]; readonly besides: readonly CandidateRow[] },
  limit: number,
): Promise<NextReplayed> {
  const [replay] = await tx.query<{
    number: number;
    id: string;
    lists: string | null;
    from_at: Date | null;
    until: number;
    position: number;
    repair: boolean;
    keys: string[] | null;
  }>(
    `select r.number, r.id, r.lists, r.from_at, l.until, l.position, r.repair, r.keys
     from replay_lanes l join replays r on r.number = l.replay
     where l.sink_id = $1 and l.pigeonhole_number = $2 and l.done_at is null order by l.replay limit 1`,
    [sinkId, pigeonholeNumber],
  );
  if (replay === undefined) return { rows: [], done: true };
  const requested = replay.lists?.split(' ');
  const next = replay.repair ? repairedChanges : replay.keys === null ? replayedChanges : chosenChanges;
  const { rows, reached } = await next(
    tx,
    {
      sinkId,
      pigeonholeNumber,
      lists: requested === undefined ? lists : lists.filter((list) => requested.includes(list)),
      after: replay.position,
      until: replay.until,
      from: replay.from_at,
      keys: replay.keys ?? [],
      replay: replay.number,
      replayId: replay.id,
    },
    limit,
  );
  const items = new Set(besides.map(({ list, key }) => `${list} ${key}`));
  return {
    rows: rows.map((row) => ({ ...row, blocked: row.blocked || items.has(`${row.list} ${row.key}`) })),
    done: reached >= replay.until,
    replay: { number: replay.number, reached },
  };
}

/** Stores that a lane emitted these items of a replay. @param withheld number of items withheld, not passed to the sink */
export async function noteEmitted(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneLease,
  { rows, done, replay }: NextReplayed,
  withheld: number,
): Promise<void> {
  if (replay === undefined) return;
  await tx.query(
    `update replay_lanes set position = $4, emitted = emitted + $5, done_at = case when $6 then clock_timestamp() end
     where replay = $1 and sink_id = $2 and pigeonhole_number = $3`,
    [replay.number, sinkId, pigeonholeNumber, replay.reached, rows.length - withheld, done],
  );
}

/** Counts the items of replays that the destination accepted, in the transaction that commits these outcomes. */
export async function noteReplayed(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneLease,
  settled: readonly { readonly replay: number; readonly state: string }[],
): Promise<void> {
  const sent = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (sent.length === 0) return;
  await tx.query(
    `update replay_lanes l set sent = l.sent + n.sent
     from (select replay, count(*)::int as sent from unnest($3::int4[]) as r (replay) group by replay) n
     where l.replay = n.replay and l.sink_id = $1 and l.pigeonhole_number = $2`,
    [sinkId, pigeonholeNumber, sent.map(({ replay }) => replay)],
  );
}

interface ReplayRange {
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly lists: readonly string[];
  readonly after: number;
  readonly until: number;
  /** Only changes found at or after this time; null: all. */
  readonly from: Date | null;
  /** The chosen items of a replay of single items. */
  readonly keys: readonly string[];
  readonly replay: number;
  readonly replayId: string;
}

/**
 * Returns the changes that a replay emits next: the last change of each item, if it is in the range. If an item has
 * changed since the replay was requested, the replay skips it, because the later change delivers it.
 */
async function replayedChanges(tx: Queryable, range: ReplayRange, limit: number): Promise<FoundChanges> {
  const until = Math.min(range.until, range.after + maxSequencesPerRead);
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${neverTried}, ${blockedByOpen} as blocked, $7::int4 as replay, $8::uuid as "replayId",
       false as repair
     from changes c ${candidateJoins}
     where c.pigeonhole_number = $2 and c.sequence > $3 and c.sequence <= $4 and c.list = any($5::text[])
       and c.sequence = i.last_sequence and i.payload is not null and not i.expired and ($6::timestamptz is null or c.found_at >= $6)
     order by c.sequence limit $9`,
    [
      range.sinkId,
      range.pigeonholeNumber,
      range.after,
      until,
      range.lists,
      range.from,
      range.replay,
      range.replayId,
      limit,
    ],
  );
  return { rows, reached: rows.length < limit ? Math.max(until, range.after) : rows.at(-1)!.sequence };
}

/** Returns the last changes of the chosen items, as `replayedChanges` does. Reads only these items. */
async function chosenChanges(tx: Queryable, range: ReplayRange, limit: number): Promise<FoundChanges> {
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${neverTried}, ${blockedByOpen} as blocked, $7::int4 as replay, $8::uuid as "replayId",
       false as repair
     from (select distinct list, key from unnest($5::text[]) as n (list) cross join unnest($6::text[]) as k (key)) f
       cross join lateral (select last_sequence from items
         where pigeonhole_number = $2 and list = f.list and key = f.key and payload is not null and not expired limit 1) n
       cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = n.last_sequence limit 1) c
       ${candidateJoins}
     where c.sequence > $3 and c.sequence <= $4
     order by c.sequence limit $9`,
    [
      range.sinkId,
      range.pigeonholeNumber,
      range.after,
      range.until,
      range.lists,
      range.keys,
      range.replay,
      range.replayId,
      limit,
    ],
  );
  return { rows, reached: rows.length < limit ? range.until : rows.at(-1)!.sequence };
}

/**
 * Returns the changes that a repair emits next: the last change of each item that an audit found to differ, also if it is a
 * removal. In a log: the revision itself.
 */
async function repairedChanges(tx: Queryable, range: ReplayRange, limit: number): Promise<FoundChanges> {
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${neverTried}, ${blockedByOpen} as blocked, $6::int4 as replay, $7::uuid as "replayId",
       true as repair
     from (select list, key, entry from parity_findings where sink_id = $1 and pigeonhole_number = $2 and repair = $6 and sent
         and action <> 'remove-copy' and list = any($5::text[])) f
       cross join lateral (select last_sequence from items
         where pigeonhole_number = $2 and list = f.list and key = f.key limit 1) n
       cross join lateral (select * from changes where pigeonhole_number = $2
         and sequence = case when f.entry = 0 then n.last_sequence else f.entry end limit 1) c
       ${candidateJoins}
     where c.sequence > $3 and c.sequence <= $4
     order by c.sequence limit $8`,
    [range.sinkId, range.pigeonholeNumber, range.after, range.until, range.lists, range.replay, range.replayId, limit],
  );
  return { rows, reached: rows.length < limit ? range.until : rows.at(-1)!.sequence };
}

interface StoredItemsQuery {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly lists: readonly string[];
  /** Only the item of this key; null: all. */
  readonly key: string | null;
  /** Only changes before this sequence; absent or null: all. */
  readonly before?: number | null;
  /** Only items whose last change the sink withholds for one of these reasons; absent or null: all. */
  readonly withheldFor?: readonly string[] | null;
  /** Only items whose last change was found at or after this time; absent or null: all. */
  readonly since?: Date | null;
  /** Only items whose last change has at most this sequence; absent or null: all. */
  readonly until?: number | null;
  /** Leaves out items whose last change has a delivery row of this sink; absent or null: includes them. */
  readonly withoutRowOf?: number | null;
}

/** Returns the last change of stored items, newest first, each as if it were due at the sink now. */
export async function storedItems(tx: Queryable, query: StoredItemsQuery, limit: number): Promise<Candidate[]> {
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${withoutDelivery}, false as blocked
     from changes c ${candidateJoins}
     where c.pigeonhole_number = $2 and c.list = any($3::text[]) and ($4::text is null or c.key = $4)
       and ($6::int8 is null or c.sequence < $6)
       and c.sequence = i.last_sequence and i.payload is not null and not i.expired
       and ($7::text[] is null or coalesce((select w.state = 'withheld' and w.reason = any($7) from deliveries w
         where w.sink_id = $1 and w.pigeonhole_number = c.pigeonhole_number and w.sequence = c.sequence
           and w.replay = 0), false))
       and ($8::timestamptz is null or c.found_at >= $8) and ($9::int8 is null or c.sequence <= $9)
       and ($10::int4 is null or not exists (select 1 from deliveries d
         where d.sink_id = $10 and d.pigeonhole_number = c.pigeonhole_number and d.sequence = c.sequence
           and d.replay = 0))
     order by c.sequence desc limit $5`,
    [
      query.sinkId,
      query.pigeonholeNumber,
      query.lists,
      query.key,
      limit,
      query.before ?? null,
      query.withheldFor ?? null,
      query.since ?? null,
      query.until ?? null,
      query.withoutRowOf ?? null,
    ],
  );
  return await toCandidates(tx, query.pigeonholeNumber, rows);
}
