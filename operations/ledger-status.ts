import { groupBy } from '../base/grouping.js';
import { WorkSlices } from '../base/work-slices.js';
import type { Config } from '../config/config.js';
import type { Backlogs } from '../delivering/backlogs.js';
import { isSent, sentByValue } from '../delivering/lane-plans.js';
import { type UnsettledLane, readWaitsFor, unsettledLanes } from '../delivering/read-lanes.js';
import { type SinkParity, sinkParities } from '../delivering/parity/lane-parity.js';
import type { Ledger } from '../ledger/ledger.js';
import { placeName } from '../ledger/pauses.js';
import type { NamedPigeonhole } from '../ledger/pigeonholes.js';
import { readableJson } from '../ledger/sql-expressions.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { type AllFreshness, type CadenceGroup, maybeLateLists, type StreamGroup, streamGroups } from './freshness.js';
import type { ListReading } from './lateness.js';
import { type AlertCode, alertingProblems, messageTraits } from './problems.js';
import type { PigeonholeView } from './status-view.js';

/** State of the work, in numbers that are cheap for a ledger of any size: the store keeps them (decision 0095). */
export interface LedgerStatus {
  readonly workspaces: readonly WorkspaceStatus[];
  readonly pigeonholes: readonly PigeonholeStatus[];
  /** The sinks in each workspace, without the lanes to which the configuration no longer sends. */
  readonly sinks: readonly SinkTotals[];
  readonly outcomes: readonly SinkOutcome[];
  /** Lanes on which something is left to do or fails. */
  readonly lanes: readonly UnsettledLane[];
  /** The results of audits. */
  readonly parities: readonly SinkParity[];
}

/** The lanes of a sink in one workspace, added up. */
export interface SinkTotals {
  readonly sink: string;
  readonly workspace: string;
  /** Number of lanes of pigeonholes with changes. */
  readonly lanes: number;
  readonly delivered: number;
  readonly deliveredAt: Date | null;
}

/** The withheld changes and dead letters of a sink in one workspace, added up. */
export interface SinkOutcome extends OutcomeCount {
  readonly sink: string;
  readonly workspace: string;
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

/** Everything that the status, the page, the metrics and the alerts show of the work, read at one moment. */
export interface LedgerFacts {
  readonly status: LedgerStatus;
  readonly freshness: AllFreshness;
  readonly sweeps: readonly SweepState[];
}

/** The state of the reading: the part of `LedgerFacts` that says nothing of deliveries. */
export interface ReadingFacts extends Pick<LedgerStatus, 'workspaces' | 'pigeonholes'> {
  readonly freshness: AllFreshness;
  readonly sweeps: readonly SweepState[];
}

/** Reads the state of the reading. */
export async function readingFacts(ledger: Ledger): Promise<ReadingFacts> {
  const [workspaces, places, streams, late] = await Promise.all([
    ledger.db.query<WorkspaceStatus>(
      `select name, wait_reason as "waitReason", wait_until as "waitUntil", discovered_at is not null as discovered,
         unanswered_since as "unansweredSince", unanswered_reason as "unansweredReason"
       from workspaces order by name`,
    ),
    readPlaces(ledger),
    streamGroups(ledger),
    maybeLateLists(ledger),
  ]);
  const slices = new WorkSlices();
  const groups = groupBy(streams.groups, ({ pigeonholeNumber }) => pigeonholeNumber);
  const lists = groupBy(late, ({ pigeonholeNumber }) => pigeonholeNumber);
  const byPlace = new Map<string, { groups: readonly CadenceGroup[]; maybeLate: readonly ListReading[] }>();
  const pigeonholes: PigeonholeStatus[] = [];
  const sweeps: SweepState[] = [];
  for (const place of places) {
    await slices.pause();
    const own = groups.get(place.pigeonholeNumber) ?? [];
    const maybeLate = lists.get(place.pigeonholeNumber) ?? [];
    byPlace.set(placeName(place), { groups: own.filter(({ isGone }) => !isGone).map(toCadenceGroup), maybeLate });
    sweeps.push(...sweepOf(place, own));
    if (place.isRead) pigeonholes.push(toPigeonholeStatus(place, own));
  }
  return { workspaces, pigeonholes, freshness: { at: streams.at, byPlace }, sweeps };
}

/**
 * Reads the state of the work. All statements are sent at the same time: the embedded store runs one statement at a
 * time, so if each were sent after the previous one, each would wait for a page or a batch that is being stored.
 * @param backlogs what this process remembers of earlier calls
 */
export async function ledgerFacts(
  ledger: Ledger,
  config: Pick<Config, 'syncs'>,
  backlogs: Backlogs,
): Promise<LedgerFacts> {
  const sentBy = sentByValue(config);
  const [{ workspaces, pigeonholes, freshness, sweeps }, lanes, parities, sinks, outcomes] = await Promise.all([
    readingFacts(ledger),
    unsettledLanes(ledger, backlogs),
    sinkParities(ledger, config),
    ledger.db.query<SinkTotals>(
      `select k.name as sink, p.workspace, (count(*) filter (where p.next_sequence > 1))::int as lanes,
         sum(l.delivered)::int8 as delivered, max(l.delivered_at) as "deliveredAt"
       from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null
         join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       where ${isSent('l.sink_id, l.pigeonhole_number', '$1')} group by k.name, p.workspace`,
      [sentBy],
    ),
    ledger.db.query<SinkOutcome>(
      // Lanes that are not sent are few, so they are excluded from the sums, which is faster than a join with all others.
      `with unsent as materialized (select l.sink_id, l.pigeonhole_number from lanes l
         where not ${isSent('l.sink_id, l.pigeonhole_number', '$1')})
       select k.name as sink, c.workspace, c.list, c.state, c.reason, c.changes
       from (select c.sink_id, p.workspace, c.list, c.state, c.reason, sum(c.changes)::int8 as changes
         from delivery_counts c join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
         where c.changes > 0 and c.state in ('withheld', 'dead')
           and (c.sink_id, c.pigeonhole_number) not in (select sink_id, pigeonhole_number from unsent)
         group by c.sink_id, p.workspace, c.list, c.state, c.reason) c
       join sinks k on k.id = c.sink_id and k.archived_at is null
       order by k.name, c.workspace, c.list, c.state, c.reason`,
      [sentBy],
    ),
  ]);
  const sent = await withWaitsFor(ledger, sentLanes(config, lanes, pigeonholes));
  const all = { workspaces, pigeonholes, sinks, outcomes, lanes: sent, parities };
  return { status: all, freshness, sweeps };
}

/** Adds `waitsFor` to the lane of each sink in each workspace that has waited longest. Problems name no other. */
async function withWaitsFor(ledger: Ledger, lanes: readonly UnsettledLane[]): Promise<UnsettledLane[]> {
  const longest = [...groupBy(lanes, ({ sink, workspace }) => `${sink} ${workspace}`).values()].flatMap((own) =>
    own.reduce<UnsettledLane[]>((oldest, lane) => {
      if (lane.waitsSince === null || lane.open === 0) return oldest;
      const order = oldest.length === 0 ? -1 : lane.waitsSince.getTime() - oldest[0]!.waitsSince!.getTime();
      return order < 0 ? [lane] : order === 0 && oldest.length < maxEqual ? [...oldest, lane] : oldest;
    }, []),
  );
  const details = new Map((await readWaitsFor(ledger, longest)).map((detail, index) => [longest[index]!, detail]));
  return lanes.map((lane) => ({ ...lane, waitsFor: details.get(lane) ?? null }));
}

/** Lanes that wait since the same instant probably wait for the same cause. */
const maxEqual = 20;

/** A pigeonhole without the facts of its streams. */
interface PlaceRow
  extends
    NamedPigeonhole,
    Pick<
      PigeonholeStatus,
      'status' | 'changes' | 'heldDeletions' | 'goneAt' | 'rehearsalSince' | 'rehearsalUntil' | 'rehearsalBy'
    > {
  readonly pigeonholeNumber: number;
  /** Whether a configured sync reads it. */
  readonly isRead: boolean;
}

async function readPlaces(ledger: Ledger): Promise<PlaceRow[]> {
  const [rows, names] = await Promise.all([
    ledger.db.query<Omit<PlaceRow, 'syncs' | 'name'> & { syncs: string | null }>(
      `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", p.status,
         p.next_sequence - 1 as changes, p.rehearsal_since as "rehearsalSince", p.rehearsal_by as "rehearsalBy",
         case when p.rehearsal_until > clock_timestamp() then p.rehearsal_until end as "rehearsalUntil",
         p.gone_at as "goneAt", coalesce(m.held, 0) as "heldDeletions", n.syncs,
         p.pigeonhole_id = 0 or coalesce(n.is_read, false) as "isRead"
       from pigeonholes p
         left join (select pigeonhole_number, count(*)::int as held from missing where state = 'held'
           group by pigeonhole_number) m on m.pigeonhole_number = p.pigeonhole_number
         left join (select n.pigeonhole_number, string_agg(n.sync, ' '
           order by n.sync) as syncs, bool_or(y.archived_at is null) as is_read
           from selections n left join syncs y on y.name = n.sync where n.archived_at is null
             group by n.pigeonhole_number) n
           on n.pigeonhole_number = p.pigeonhole_number
       order by p.workspace, p.pigeonhole_id`,
    ),
    // A join with the pigeonholes would compare each of them with each name, because the planner expects one name.
    ledger.db.query<{ workspace: string; key: string; name: string | null }>(
      `select w.workspace, i.key, ${readableJson('i.payload')} ->> 'name' as name
       from pigeonholes w join items i on i.pigeonhole_number = w.pigeonhole_number and i.list = 'pigeonholes'
       where w.pigeonhole_id = 0 and i.payload is not null`,
    ),
  ]);
  const nameOf = new Map(names.map(({ workspace, key, name }) => [`${workspace}/${key}`, name]));
  return rows.map(({ syncs, ...row }) => ({
    ...row,
    name: row.pigeonholeId === 0 ? null : (nameOf.get(placeName(row)) ?? null),
    syncs: syncs?.split(' ') ?? [],
  }));
}

function toPigeonholeStatus(
  { pigeonholeNumber: _, isRead: __, ...place }: PlaceRow,
  groups: readonly StreamGroup[],
): PigeonholeStatus {
  const sum = (pick: (group: StreamGroup) => number): number => groups.reduce((n, group) => n + pick(group), 0);
  return {
    ...place,
    streams: sum(({ lists }) => lists),
    backfilling: groups.length === 0 ? 1 : sum(({ backfilling }) => backfilling), // without streams, the first read has not started
    failing: sum(({ failing }) => failing),
    unread: sum(({ unread }) => unread),
    waiting: sum(({ waiting }) => waiting),
    failure:
      groups
        .flatMap(({ isGone, failure }) => (isGone || failure === null ? [] : [failure]))
        .toSorted()
        .at(-1) ?? null,
    setAside: sum(({ setAside }) => setAside),
    foreignRows: sum(({ foreignRows }) => foreignRows),
    strangerRows: sum(({ strangerRows }) => strangerRows),
  };
}

function toCadenceGroup(group: StreamGroup): CadenceGroup {
  const { reason, lists, everyMs, longestEveryMs, shortestWantedMs, wantedMs, readAt, nextAt } = group;
  return { reason, lists, everyMs, longestEveryMs, shortestWantedMs, wantedMs, readAt, nextAt };
}

/** Returns the sweep state of a live pigeonhole; empty for another, or if no list of it is swept. */
function sweepOf({ workspace, pigeonholeId, status, goneAt }: PlaceRow, groups: readonly StreamGroup[]): SweepState[] {
  // An `unfilled` list is swept every few hours on purpose: nothing fills it.
  const swept = groups.filter(({ isGone, reason }) => !isGone && reason !== 'unfilled');
  if (status !== 'live' || goneAt !== null || swept.length === 0) return [];
  const isUnswept = swept.some(({ backfilling }) => backfilling > 0);
  const first = swept.flatMap(({ sweptAt }) => sweptAt ?? []).toSorted((a, b) => a.getTime() - b.getTime())[0];
  return [{ workspace, pigeonholeId, oldestSweptAt: isUnswept ? null : (first ?? null) }];
}

interface ListCount extends PigeonholeName {
  readonly list: string;
  readonly items: number;
}

interface DeliveryCount extends PigeonholeName {
  readonly list: string;
  readonly sink: string;
  readonly state: string;
  /** Number of changes. A replay of a change counts only while it is open, and as a dead letter. */
  readonly changes: number;
}

/** Returns the kept numbers of items with a payload, by list. */
export async function storedItemCounts(ledger: Ledger): Promise<ListCount[]> {
  return await ledger.db.query<ListCount>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", c.list, c.items
     from item_counts c join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number where c.items > 0
       order by 1, 2, 3`,
  );
}

/** Returns the kept numbers of deliveries to sinks that are not archived, by list and state. */
export async function deliveryCounts(ledger: Ledger): Promise<DeliveryCount[]> {
  return await ledger.db.query<DeliveryCount>(
    `select k.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId", c.list, c.state, c.changes
     from (select sink_id, pigeonhole_number, list, state, sum(changes)::int8 as changes from delivery_counts
         where changes > 0 group by sink_id, pigeonhole_number, list, state) c
       join sinks k on k.id = c.sink_id and k.archived_at is null
         join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
     order by 1, 2, 3, 4, 5`,
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

/**
 * Sweep state of the streams of a live pigeonhole. Others are swept rarely, and no longer at all a few days after the
 * event.
 */
export interface SweepState extends PigeonholeName {
  /** End of the last sweep of the stream that was swept longest ago; null: a stream was never swept. */
  readonly oldestSweptAt: Date | null;
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
     from imports i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number group by p.workspace, i.state`,
  );
}

export interface AlertFigures {
  readonly occasion: string;
  readonly raised: number;
}

export async function alertFigures(ledger: Ledger): Promise<{ raised: AlertFigures[]; waiting: number }> {
  const [raised, [messages]] = await Promise.all([
    ledger.db.query<{ code: AlertCode; raised: number }>(
      'select code, count(*)::int as raised from alerts where announced and code = any($1::text[]) group by code',
      [alertingProblems],
    ),
    ledger.db.query<{ waiting: number }>('select count(*)::int as waiting from alert_messages'),
  ]);
  const figures = raised.map((each) => ({ occasion: messageTraits(each.code).occasion, raised: each.raised }));
  return { raised: figures, waiting: messages!.waiting };
}
