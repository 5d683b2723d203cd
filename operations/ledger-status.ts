import { placeName } from '../ledger/pauses.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import { behindCount, openCount, readableJson } from '../ledger/sql-expressions.js';
import { groupBy } from '../base/grouping.js';
import type { Config } from '../config/config.js';
import type { LaneState } from '../delivering/read-lanes.js';
import type { NamedPigeonhole } from '../ledger/pigeonholes.js';
import type { PigeonholeView } from './status-view.js';

/** State of the work, in numbers that are cheap for a ledger of any size. */
export interface LedgerStatus {
  readonly workspaces: readonly WorkspaceStatus[];
  readonly pigeonholes: readonly PigeonholeStatus[];
  readonly lanes: readonly LaneStatus[];
}

export interface WorkspaceStatus {
  readonly name: string;
  readonly waitReason: string | null;
  readonly waitUntil: Date | null;
  /** The syncs have selected pigeonholes from its list at least once. */
  readonly discovered: boolean;
  /** Instant of the first request without an answer since the service last answered one; null: the service answers. */
  readonly unansweredSince: Date | null;
  readonly unansweredReason: string | null;
}

/** The row of a pigeonhole, and the facts that the status shows unchanged. */
export interface PigeonholeStatus
  extends
    NamedPigeonhole,
    Pick<
      PigeonholeView,
      'status' | 'changes' | 'streams' | 'setAside' | 'foreignRows' | 'strangerRows' | 'heldDeletions'
    > {
  /** Streams whose first sweep has not ended. */
  readonly backfilling: number;
  /** Streams that fail although the service answers other requests. */
  readonly failing: number;
  /** Streams whose last request failed, for whatever reason. */
  readonly unread: number;
  /** Streams that fail or are due. */
  readonly waiting: number;
  /** One of the failures; null when nothing fails. */
  readonly failure: string | null;
  readonly rehearsalSince: Date | null;
  /** End of the rehearsal in progress; null: none is. */
  readonly rehearsalUntil: Date | null;
  readonly rehearsalBy: string | null;
  /** Instant from which the service no longer knew it; its stored items are kept. Null: the service knows it. */
  readonly goneAt: Date | null;
}

export interface LaneStatus extends Pick<
  LaneState,
  'sink' | 'workspace' | 'pigeonholeId' | 'open' | 'delivered' | 'failure' | 'deliveredAt'
> {
  /**
   * Number of changes whose delivery has not started, of lists that the sink accepts. If there are more than 5,000, the
   * number includes all lists.
   */
  readonly behind: number;
  /** By list, state and reason. */
  readonly outcomes: readonly OutcomeCount[];
  /** JSON with the latest decisions by list. */
  readonly recent: string;
  /** Fingerprint of the sink's settings under which the lane decides; null: not recorded. */
  readonly settings: string | null;
}

/**
 * Definition of the delivery counts of a sink. The page, `status`, the API, the metrics and `why` show these numbers
 * (docs/operations.md, "What is counted"); the ledger keeps them with each delivery (decision 0061).
 *
 * - *delivered* counts deliveries that the destination accepted, including those of replays. It never falls.
 * - *withheld* counts changes that were withheld on purpose and not delivered since. A replay that delivers such a
 *   change removes it from the count, and so does a later revision if the sink keeps only the latest one.
 * - *dead* counts dead letters: deliveries that the destination refused.
 */
export interface OutcomeCount {
  readonly list: string;
  readonly state: 'delivered' | 'withheld' | 'dead';
  /** Empty for delivered. */
  readonly reason: string;
  readonly changes: number;
}

export async function ledgerStatus(ledger: Ledger): Promise<LedgerStatus> {
  const [workspaces, pigeonholes, lanes, counts] = await Promise.all([
    ledger.db.query<WorkspaceStatus>(
      `select name, wait_reason as "waitReason", wait_until as "waitUntil", discovered_at is not null as discovered,
         unanswered_since as "unansweredSince", unanswered_reason as "unansweredReason"
       from workspaces order by name`,
    ),
    ledger.db.query<Omit<PigeonholeStatus, 'syncs'> & { syncs: string | null }>(
      `select p.workspace, p.pigeonhole_id as "pigeonholeId",
         (select ${readableJson('i.payload')} ->> 'name' from pigeonholes r join items i on i.ref = r.ref
          where r.workspace = p.workspace and r.pigeonhole_id = 0 and i.list = 'pigeonholes'
            and i.key = p.pigeonhole_id::text and p.pigeonhole_id <> 0) as name,
         p.status, p.next_sequence - 1 as changes, count(s.id)::int as streams,
         (count(*) filter (where s.swept_at is null and s.gone_at is null))::int as backfilling, -- a pigeonhole without streams counts as one
         (count(*) filter (where s.failures > 0 and s.failure is not null and s.gone_at is null))::int as failing,
         (count(*) filter (where s.failures > 0 and s.gone_at is null))::int as unread,
         (count(*) filter (where (s.failures > 0 or s.due_at <= now()) and s.gone_at is null))::int as waiting,
         max(s.failure) filter (where s.gone_at is null) as failure,
         p.rehearsal_since as "rehearsalSince", p.rehearsal_by as "rehearsalBy",
         case when p.rehearsal_until > clock_timestamp() then p.rehearsal_until end as "rehearsalUntil",
         coalesce(sum(s.set_aside), 0)::int as "setAside", coalesce(sum(s.foreign_rows) filter (where s.session_id <> 0), 0)::int as "foreignRows",
         coalesce(sum(s.foreign_rows) filter (where s.session_id = 0), 0)::int as "strangerRows",
         p.gone_at as "goneAt",
         (select count(*)::int from missing m where m.ref = p.ref and m.state = 'held') as "heldDeletions",
         (select string_agg(n.sync, ' ' order by n.sync) from selections n where n.ref = p.ref and n.archived_at is null)
           as syncs
       from pigeonholes p left join streams s on s.ref = p.ref and s.wanted
       where p.pigeonhole_id = 0 or exists (select 1 from selections n where n.ref = p.ref and n.archived_at is null
         and not exists (select 1 from syncs y where y.name = n.sync and y.archived_at is not null)) group by p.ref order by p.workspace, p.pigeonhole_id`,
    ),
    ledger.db.query<Omit<LaneStatus, 'outcomes'> & LaneKey>(
      `select l.sink_id as "sinkId", l.ref, k.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId",
         ${behindCount} as behind,
         ${openCount('l.sink_id', 'l.ref')} as open,
         l.delivered, l.recent, l.settings, l.failure, l.delivered_at as "deliveredAt"
       from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null join pigeonholes p on p.ref = l.ref
       order by k.name, p.workspace, p.pigeonhole_id`,
    ),
    ledger.db.query<OutcomeCount & LaneKey>(
      'select sink_id as "sinkId", ref, list, state, reason, changes from delivery_counts where changes > 0',
    ),
  ]);
  const laneOf = ({ sinkId, ref }: LaneKey): string => `${sinkId} ${ref}`;
  const outcomes = groupBy(counts, laneOf);
  return {
    workspaces,
    pigeonholes: pigeonholes.map(({ syncs, ...row }) => ({ ...row, syncs: syncs?.split(' ') ?? [] })),
    lanes: lanes.map((lane) => ({ ...lane, outcomes: outcomes.get(laneOf(lane)) ?? [] })),
  };
}

/** The columns that identify a lane in the ledger. */
interface LaneKey {
  readonly sinkId: number;
  readonly ref: number;
}

interface ListCount extends PigeonholeName {
  readonly list: string;
  readonly items: number;
}

interface DeliveryCount extends ListCount {
  readonly sink: string;
  /** State of the items' last change at this sink. */
  readonly state: string;
}

/**
 * Counts items by list, and the state of each item's last change at each sink. Reads the whole ledger, so it runs only
 * on request. `lateral` with a limit makes it one look-up each: a plain join would compare every row with every other
 * while the tables have no statistics.
 */
export async function countItems(ledger: Ledger): Promise<{ items: ListCount[]; deliveries: DeliveryCount[] }> {
  const items = await countStored(ledger);
  const deliveries = await ledger.db.query<DeliveryCount>(
    `select k.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId", i.list, d.state, count(*)::int as items
     from items i join pigeonholes p on p.ref = i.ref cross join sinks k
       cross join lateral (select state from deliveries where sink_id = k.id and ref = i.ref
         and sequence = i.last_sequence and replay = 0 limit 1) d
     where i.payload is not null group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
  );
  return { items, deliveries };
}

/** Counts the items with a payload, by list. Reads the whole ledger. */
export async function countStored(ledger: Ledger): Promise<ListCount[]> {
  return await ledger.db.query<ListCount>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", i.list, count(*)::int as items
     from items i join pigeonholes p on p.ref = i.ref where i.payload is not null group by 1, 2, 3 order by 1, 2, 3`,
  );
}

/** Returns the counts of one state by reason, the largest first. */
export function byReason(
  counts: readonly OutcomeCount[],
  state: OutcomeCount['state'],
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const each of counts) if (each.state === state) addCounts(sums, { [each.reason]: each.changes });
  return largestFirst(sums);
}

/** Returns counts by reason in the order in which people read them. */
export function largestFirst(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).toSorted(([, one], [, other]) => other - one));
}

/** Adds counts by reason to a sum, and returns the sum. */
export function addCounts(
  sum: Record<string, number>,
  counts: Readonly<Record<string, number>>,
): Record<string, number> {
  for (const [reason, n] of Object.entries(counts)) sum[reason] = (sum[reason] ?? 0) + n;
  return sum;
}

/** Whether a sync of the sink reads the pigeonhole or, for a workspace's own lists, the workspace. */
export function isSentTo(
  config: Pick<Config, 'syncs'>,
  sink: string,
  { workspace, pigeonholeId, syncs }: PigeonholeName & { readonly syncs: readonly string[] },
): boolean {
  return Object.entries(config.syncs).some(
    ([name, sync]) =>
      sync.workspace === workspace && sync.sinks.includes(sink) && (pigeonholeId === 0 || syncs.includes(name)),
  );
}

/**
 * Returns the lanes that still receive changes. If a sink no longer receives a pigeonhole, the lane stays, because its
 * watermark is needed if the sink receives the pigeonhole again. Until then, the lane has no backlog. Pure.
 * @param places the pigeonholes, with the syncs that read them
 */
export function sentLanes<Lane extends PigeonholeName & { readonly sink: string }>(
  config: Pick<Config, 'syncs'>,
  lanes: readonly Lane[],
  places: readonly (PigeonholeName & { readonly syncs: readonly string[] })[],
): Lane[] {
  const placed = new Map(places.map((place) => [placeName(place), place]));
  return lanes.filter((lane) => {
    const place = placed.get(placeName(lane));
    return place !== undefined && isSentTo(config, lane.sink, place);
  });
}

/** Sweep state of the streams of a pigeonhole. */
export interface SweepState extends PigeonholeName {
  /** End of the last sweep of the stream that was swept longest ago; null: a stream was never swept. */
  readonly oldestSweptAt: Date | null;
}

/**
 * Returns the sweep states of live pigeonholes. Others are swept rarely, and no longer at all a few days after the
 * event.
 */
export async function sweepStates(ledger: Ledger): Promise<SweepState[]> {
  return await ledger.db.query<SweepState>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId",
       case when bool_and(s.swept_at is not null) then min(s.swept_at) end as "oldestSweptAt"
     from streams s join pigeonholes p on p.ref = s.ref
     where s.wanted and s.gone_at is null and p.gone_at is null and p.status = 'live'
       and s.every_reason is distinct from 'unfilled' -- swept every few hours on purpose: nothing fills it
     group by p.ref`,
  );
}

export interface ImportFigures {
  readonly workspace: string;
  readonly state: 'staging' | 'running' | 'done' | 'cancelled';
  readonly imports: number;
  /** Rows of running imports that have not been sent yet. */
  readonly rowsLeft: number;
}

export async function importFigures(ledger: Ledger): Promise<ImportFigures[]> {
  return await ledger.db.query<ImportFigures>(
    `select p.workspace, i.state, count(*)::int as imports,
       coalesce(sum(greatest(0, i.rows_claimed - i.begun)) filter (where i.state = 'running'), 0)::int8 as "rowsLeft"
     from imports i join pigeonholes p on p.ref = i.ref group by p.workspace, i.state`,
  );
}

export interface AlertFigures {
  readonly occasion: string;
  readonly raised: number;
}

export async function alertFigures(ledger: Ledger): Promise<{ raised: AlertFigures[]; waiting: number }> {
  const [raised, [messages]] = await Promise.all([
    ledger.db.query<AlertFigures>(
      `select occasion, count(*)::int as raised from alerts where told and occasion <> 'import-ended' group by occasion`,
    ),
    ledger.db.query<{ waiting: number }>('select count(*)::int as waiting from alert_messages'),
  ]);
  return { raised, waiting: messages!.waiting };
}
