import { groupBy } from '../base/grouping.js';
import { ourSentence } from '../ledger/kept-answer.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { behindCount, byOrder, oldestOpen, openCount } from '../ledger/sql-expressions.js';
import type { Consent } from '../ledger/seen-item.js';
import type { Backlogs, BehindLane } from './backlogs.js';
import { isSent, sentByValue } from './lane-plans.js';

/**
 * Maximum number of changes after a watermark that are searched for the first one that the sink receives. If there is
 * none among them, the change after them is taken as the first one.
 */
const maxChangesSearched = 5000;

/** The progress of a sink in one pigeonhole. */
export interface LaneState {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Every change up to here has a delivery, or needs none. */
  readonly watermark: number;
  /** Sequence of the newest change. */
  readonly newest: number;
  /** Number of changes after the watermark (`behindCount`). */
  readonly behind: number;
  /** Number of deliveries that are not settled. */
  readonly open: number;
  readonly delivered: number;
  readonly deliveredAt: Date | null;
  /** Time at which the oldest unsettled change was found; null if there is none. */
  readonly undeliveredSince: Date | null;
  /**
   * Start of the delay; null if nothing waits. This is `undeliveredSince`. While the lane is being filled with old
   * changes, it is instead the later of `undeliveredSince` and the start of the lane's failure or, if the lane works,
   * the sink's last progress.
   */
  readonly waitsSince: Date | null;
  /** Detail of the oldest unsettled delivery; null if it has none. */
  readonly waitsFor: string | null;
  readonly failure: string | null;
  readonly failingSince: Date | null;
  readonly retryAt: Date | null;
}

/** A lane on which something is left to do or fails. */
export interface UnsettledLane extends LaneState {
  /** `behind` by list. Empty name: changes that are not counted by list. */
  readonly behindByList: ReadonlyMap<string, number>;
}

/**
 * Returns the lanes on which something is left to do or fails, of all sinks that are not archived, without
 * `waitsFor` (`readWaitsFor`). Costs the same for any number of deliveries: the store keeps the number of open ones.
 */
export async function unsettledLanes(ledger: Ledger, backlogs: Backlogs): Promise<UnsettledLane[]> {
  type Row = Omit<LaneState, 'behind' | 'undeliveredSince' | 'waitsSince' | 'waitsFor'> &
    BehindLane & { readonly openSince: Date | null; readonly isFilling: boolean; readonly progressAt: Date | null };
  const rows = await ledger.db.query<Row>(
    `with open as materialized (
       select sink_id, pigeonhole_number, sum(changes)::int as n from delivery_counts
       where state in ('waiting', 'sending', 'retry') and changes > 0 group by sink_id, pigeonhole_number),
     progress as materialized (
       select sink_id, max(greatest(filling_at, delivered_at)) as at from lanes group by sink_id)
     select l.sink_id as "sinkId", l.pigeonhole_number as "pigeonholeNumber", k.name as sink, p.workspace,
       p.pigeonhole_id as "pigeonholeId", l.watermark,
       p.next_sequence - 1 as newest, l.lists, coalesce(o.n, 0) as open, l.delivered, l.delivered_at as "deliveredAt",
       case when o.n > 0 then (select c.found_at from changes c
         where c.pigeonhole_number = l.pigeonhole_number
           and c.sequence = ${oldestOpen('l.sink_id', 'l.pigeonhole_number')}) end as "openSince",
       l.filling_at is not null as "isFilling", progress.at as "progressAt", l.failure,
       l.failing_since as "failingSince", l.retry_at as "retryAt"
     from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null
       join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       join progress on progress.sink_id = l.sink_id left join open o on o.sink_id = l.sink_id
         and o.pigeonhole_number = l.pigeonhole_number
     where p.next_sequence - 1 > l.watermark or o.n > 0 or l.failure is not null or l.failing_since is not null
     order by k.name, p.workspace, p.pigeonhole_id`,
  );
  const found = await backlogs.of(ledger, rows);
  return rows.map(
    ({ sinkId: _, pigeonholeNumber: __, lists: ___, openSince, isFilling, progressAt, ...lane }, index) => {
      const { behind, byList: behindByList, since } = found[index]!;
      const undeliveredSince = earliest(openSince, since);
      const waitsSince =
        undeliveredSince === null || !isFilling
          ? undeliveredSince
          : latest(undeliveredSince, lane.failingSince ?? progressAt);
      return { ...lane, behind, behindByList, undeliveredSince, waitsSince, waitsFor: null };
    },
  );
}

function earliest(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other < one) ? other : one;
}

function latest(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}

/** Returns the details of the oldest open deliveries of these lanes that have one, by index. */
export async function readWaitsFor(
  ledger: Ledger,
  lanes: readonly Pick<LaneState, 'sink' | 'workspace' | 'pigeonholeId'>[],
): Promise<(string | null)[]> {
  if (lanes.length === 0) return [];
  const rows = await ledger.db.query<{ detail: string | null }>(
    `select (select ${ourSentence('d.detail')} from deliveries d where d.sink_id = k.id
       and d.pigeonhole_number = p.pigeonhole_number
        and d.sequence = ${oldestOpen('k.id', 'p.pigeonhole_number')} order by d.replay limit 1) as detail
     from unnest($1::text[], $2::text[], $3::int8[]) with ordinality as n (sink, workspace, pigeonhole_id, n)
       join sinks k on k.name = n.sink
       join pigeonholes p on p.workspace = n.workspace and p.pigeonhole_id = n.pigeonhole_id
     order by n.n`,
    [
      lanes.map(({ sink }) => sink),
      lanes.map(({ workspace }) => workspace),
      lanes.map(({ pigeonholeId }) => pigeonholeId),
    ],
  );
  return rows.map(({ detail }) => detail);
}

export interface LanePosition {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/**
 * Returns the lanes of one sink or of all sinks that are not archived, by sink and pigeonhole.
 * @param after the last lane of the previous page, allowed only with a single sink; null: from the first lane
 */
export async function laneStates(
  ledger: Ledger,
  {
    sink,
    workspace,
    after,
    limit,
    sentBy,
  }: {
    readonly sink: string | null;
    readonly workspace: string | null;
    readonly after: LanePosition | null;
    /** Null: all. */
    readonly limit: number | null;
    /** Only lanes to which this configuration still sends; undefined: all. */
    readonly sentBy?: Pick<Config, 'syncs'>;
  },
): Promise<LaneState[]> {
  return await ledger.db.query<LaneState>(
    `with progress as materialized (
       select sink_id, max(greatest(filling_at, delivered_at)) as at from lanes group by sink_id)
     select k.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId", l.watermark,
       p.next_sequence - 1 as newest, ${behindCount} as behind, ${openCount('l.sink_id', 'l.pigeonhole_number')}
       as open, l.delivered, l.delivered_at as "deliveredAt", oldest.found_at as "undeliveredSince",
       case when oldest.found_at is null or l.filling_at is null then oldest.found_at
         else greatest(oldest.found_at, coalesce(l.failing_since, progress.at)) end as "waitsSince",
       (select ${ourSentence('d.detail')} from deliveries d where d.sink_id = l.sink_id
         and d.pigeonhole_number = l.pigeonhole_number
          and d.sequence = ${oldestOpen('l.sink_id', 'l.pigeonhole_number')} order by d.replay limit 1) as "waitsFor",
       l.failure, l.failing_since as "failingSince", l.retry_at as "retryAt"
     from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null
       join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       join progress on progress.sink_id = l.sink_id
       cross join lateral (select least(
         (select c.found_at from changes c where c.pigeonhole_number = l.pigeonhole_number and c.sequence > l.watermark
            and c.sequence <= l.watermark + ${maxChangesSearched}
            and (l.lists = '' or c.list = any(string_to_array(l.lists, ' '))) order by c.sequence limit 1),
         (select c.found_at from changes c where c.pigeonhole_number = l.pigeonhole_number
           and c.sequence = ${oldestOpen('l.sink_id', 'l.pigeonhole_number')}),
         (select c.found_at from changes c where c.pigeonhole_number = l.pigeonhole_number
           and c.sequence = l.watermark + ${maxChangesSearched} + 1)
       ) as found_at) oldest
     where ($1::text is null or k.name = $1) and ($2::text is null or p.workspace = $2)
       and ($3::text is null or (p.workspace, p.pigeonhole_id) > ($3, $4::int8))
         and ${isSent('l.sink_id, l.pigeonhole_number', '$6')}
     order by k.name, p.workspace, p.pigeonhole_id limit $5::int8`,
    [sink, workspace, after?.workspace ?? null, after?.pigeonholeId ?? null, limit, sentByValue(sentBy)],
  );
}

/** Number of undelivered changes of one list with one state and reason. */
export interface OutcomeCount {
  /** Empty for changes that wait in a long backlog, which is not counted by list. */
  readonly list: string;
  readonly state: string;
  /** Null for changes that are not settled. */
  readonly reason: string | null;
  readonly changes: number;
}

/**
 * Returns a sink's unsettled, withheld and dead deliveries by list, state and reason; largest count first. Reads only
 * counts that the store keeps.
 * @param options.behind the sink's lanes whose changes after the watermark count as waiting, so that the sum of what is
 *   unsettled is the sink's backlog
 * @param options.sentBy counts only lanes to which this configuration still sends; undefined: all
 */
export async function outcomeCounts(
  ledger: Ledger,
  {
    sink,
    workspace,
    behind,
    sentBy,
  }: {
    readonly sink: string;
    readonly workspace: string | null;
    readonly behind: readonly Pick<UnsettledLane, 'behindByList'>[];
    readonly sentBy?: Pick<Config, 'syncs'>;
  },
): Promise<OutcomeCount[]> {
  const kept = await ledger.db.query<OutcomeCount>(
    `select c.list, c.state, nullif(c.reason, '') as reason, sum(c.changes)::int as changes
     from sinks s join delivery_counts c on c.sink_id = s.id
       join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
     where s.name = $1 and c.state not in ('delivered', 'superseded') and c.changes > 0
       and ($2::text is null or p.workspace = $2) and ${isSent('s.id, c.pigeonhole_number', '$3')}
     group by 1, 2, 3`,
    [sink, workspace, sentByValue(sentBy)],
  );
  const waiting = behind.flatMap(({ behindByList }) =>
    [...behindByList].map(([list, changes]) => ({ list, state: 'waiting', reason: null, changes })),
  );
  const groups = groupBy([...kept, ...waiting], ({ list, state, reason }) => JSON.stringify([list, state, reason]));
  return [...groups.values()]
    .map((own) => ({ ...own[0]!, changes: own.reduce((sum, { changes }) => sum + changes, 0) }))
    .filter(({ changes }) => changes > 0)
    .toSorted((a, b) => b.changes - a.changes || byName(a, b));
}

function byName(a: OutcomeCount, b: OutcomeCount): number {
  const [one, other] = [a, b].map(({ list, state, reason }) => JSON.stringify([list, state, reason]));
  return one! < other! ? -1 : 1;
}

/** The delivery of one change to one sink. */
export interface DeliveryState {
  readonly sequence: number;
  readonly replay: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly identity: boolean | null;
  readonly dueAt: Date | null;
  readonly updatedAt: Date;
}

/** Returns deliveries of one pigeonhole to a sink, newest change first. @param before the last one of the previous page */
export async function deliveryStates(
  ledger: Ledger,
  query: {
    readonly sink: string;
    readonly pigeonholeNumber: number;
    readonly state: string | null;
    readonly list: string | null;
    readonly before: { readonly sequence: number; readonly replay: number } | null;
    readonly limit: number;
  },
): Promise<DeliveryState[]> {
  return await ledger.db.query<DeliveryState>(
    `select d.sequence, d.replay, d.list, d.key, d.revision, d.state, d.reason, d.detail, d.attempts, d.identity,
       d.due_at as "dueAt", d.updated_at as "updatedAt"
     from deliveries d join sinks s on s.id = d.sink_id and s.name = $1
     where d.pigeonhole_number = $2 and ($3::text is null or d.state = $3) and ($4::text is null or d.list = $4)
       and ($5::int8 is null or (d.sequence, d.replay) < ($5, $6::int4))
     order by d.sequence desc, d.replay desc limit $7`,
    [
      query.sink,
      query.pigeonholeNumber,
      query.state,
      query.list,
      query.before?.sequence ?? null,
      query.before?.replay ?? null,
      query.limit,
    ],
  );
}

/**
 * Returns true if at most `few` deliveries are unsettled on a lane, or, if `pigeonholeNumber` is null, on all lanes of
 * a sink. Changes after the watermark do not count: they get their deliveries within a cycle.
 */
export async function hasFewOpen(
  ledger: Ledger,
  { sinkId, pigeonholeNumber }: { readonly sinkId: number; readonly pigeonholeNumber: number | null },
  few: number,
): Promise<boolean> {
  if (few < 0) return false;
  const rows = await ledger.db.query(
    `select 1 from lanes l cross join lateral (
       (select 1 from deliveries d where ${byOrder('d', 'l.sink_id', 'l.pigeonhole_number')}
         and d.state in ('waiting', 'retry') limit $3)
       union all
       (select 1 from deliveries d where ${byOrder('d', 'l.sink_id', 'l.pigeonhole_number')} and d.state = 'sending'
         limit $3)) open
     where l.sink_id = $1 and ($2::int4 is null or l.pigeonhole_number = $2) limit $3`,
    [sinkId, pigeonholeNumber, few + 1],
  );
  return rows.length <= few;
}

/** A count of the items of one list that a sink received and that still exist in the service. */
export interface HeldItems {
  readonly list: string;
  /** Set for attendees, who are counted by consent; null for other lists. */
  readonly consent: Consent | null;
  readonly items: number;
}

/**
 * Counts the items of these lists that a sink holds in a pigeonhole: items that still exist in the service and of which
 * the sink received at least one revision. An attendee counts only if the record was sent with the identity. Reads all
 * of the lane's deliveries.
 */
export async function countHeldItems(
  ledger: Ledger,
  {
    sinkId,
    pigeonholeNumber,
    lists,
  }: { readonly sinkId: number; readonly pigeonholeNumber: number; readonly lists: readonly string[] },
): Promise<HeldItems[]> {
  if (lists.length === 0) return [];
  return await ledger.db.query<HeldItems>(
    `with sent as (select distinct list, key from deliveries
       where sink_id = $1 and pigeonhole_number = $2 and list = any($3::text[]) and state = 'delivered'
         and (list <> 'attendees' or identity))
     select i.list, case when i.list = 'attendees' then i.consent end as consent, count(*)::int as items
     from sent s join items i on i.pigeonhole_number = $2 and i.list = s.list and i.key = s.key
     where i.payload is not null group by 1, 2 order by 1, 2`,
    [sinkId, pigeonholeNumber, lists],
  );
}
