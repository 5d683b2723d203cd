import type { Ledger } from '../ledger/ledger.js';
import { readableJson } from '../ledger/readable-json.js';
import { openCount } from '../ledger/addressed-indexes.js';

/** Changes behind a watermark that are counted by list; a limit because the status is requested every few seconds. */
const maxCounted = 5000;

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

export interface PigeonholeStatus {
  readonly workspace: string;
  /** 0: the workspace's own lists. */
  readonly pigeonholeId: number;
  /** Name of the event; null: not read yet. */
  readonly name: string | null;
  readonly status: string | null;
  /** The syncs that read it; none for the workspace's own lists. */
  readonly syncs: readonly string[];
  /** Changes found so far. */
  readonly changes: number;
  readonly streams: number;
  /** Streams whose first sweep has not ended. */
  readonly backfilling: number;
  readonly failing: number;
  /** Streams that fail or are due. */
  readonly waiting: number;
  /** One of the failures; null when nothing fails. */
  readonly failure: string | null;
  /** The rehearsal in progress; null: none. */
  readonly rehearsal: { readonly since: Date; readonly until: Date; readonly by: string | null } | null;
  /** Rows in the last sweeps without an identity or nested too deeply. They are counted and never delivered. */
  readonly setAside: number;
  /** Rows of other sessions in the last sweeps, which show that the service ignores a filter. */
  readonly foreignRows: number;
  /** Deletions that wait for an operator. */
  readonly heldDeletions: number;
  /** Instant from which the service no longer knew it; its stored items are kept. Null: the service knows it. */
  readonly goneAt: Date | null;
}

export interface LaneStatus {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /**
   * Number of changes whose delivery has not started, of lists that the sink accepts. If there are more than 5,000, the
   * number includes all lists.
   */
  readonly behind: number;
  /** Deliveries started and not settled. */
  readonly open: number;
  /** Deliveries that the destination accepted, including those of replays. */
  readonly delivered: number;
  /** By list, state and reason. */
  readonly outcomes: readonly LaneOutcomeCount[];
  /** JSON with the latest decisions by list. */
  readonly recent: string;
  readonly failure: string | null;
  readonly failingSince: Date | null;
  readonly deliveredAt: Date | null;
}

/** Changes of a list that are delivered, withheld or dead letters. */
export interface LaneOutcomeCount {
  readonly list: string;
  readonly state: 'delivered' | 'withheld' | 'dead';
  /** Empty for delivered. */
  readonly reason: string;
  readonly changes: number;
}

export async function ledgerStatus(ledger: Ledger): Promise<LedgerStatus> {
  const [workspaces, pigeonholes, lanes, counts] = await Promise.all([
    ledger.db.query<{
      name: string;
      wait_reason: string | null;
      wait_until: Date | null;
      discovered: boolean;
      unanswered_since: Date | null;
      unanswered_reason: string | null;
    }>(`select name, wait_reason, wait_until, discovered_at is not null as discovered, unanswered_since, unanswered_reason
        from workspaces order by name`),
    ledger.db.query<PigeonholeRow>(
      `select p.workspace, p.pigeonhole_id,
         (select ${readableJson('i.payload')} ->> 'name' from pigeonholes r join items i on i.ref = r.ref
          where r.workspace = p.workspace and r.pigeonhole_id = 0 and i.list = 'pigeonholes'
            and i.key = p.pigeonhole_id::text and p.pigeonhole_id <> 0) as name,
         p.status, p.next_sequence - 1 as changes, count(s.id)::int as streams,
         (count(*) filter (where s.swept_at is null and s.gone_at is null))::int as backfilling, -- a pigeonhole without streams counts as one
         (count(*) filter (where s.failures > 0 and s.gone_at is null))::int as failing,
         (count(*) filter (where (s.failures > 0 or s.due_at <= now()) and s.gone_at is null))::int as waiting,
         max(s.failure) filter (where s.gone_at is null) as failure,
         p.rehearsal_since, p.rehearsal_by,
         case when p.rehearsal_until > clock_timestamp() then p.rehearsal_until end as rehearsal_until,
         coalesce(sum(s.set_aside), 0)::int as set_aside,
         coalesce(sum(s.foreign_rows), 0)::int as foreign_rows, p.gone_at,
         (select count(*)::int from missing m where m.ref = p.ref and m.state = 'held') as held_deletions,
         (select string_agg(n.sync, ' ' order by n.sync) from selections n where n.ref = p.ref and n.archived_at is null)
           as syncs
       from pigeonholes p left join streams s on s.ref = p.ref and s.wanted
       where p.pigeonhole_id = 0 or exists (select 1 from selections n where n.ref = p.ref and n.archived_at is null
         and not exists (select 1 from syncs y where y.name = n.sync and y.archived_at is not null)) group by p.ref order by p.workspace, p.pigeonhole_id`,
    ),
    ledger.db.query<LaneRow>(
      `select l.sink_id, l.ref, k.name as sink, p.workspace, p.pigeonhole_id,
         case when l.lists = '' or p.next_sequence - 1 - l.watermark > ${maxCounted} then p.next_sequence - 1 - l.watermark
           else (select count(*) from changes c where c.ref = l.ref and c.sequence > l.watermark
             and c.sequence <= l.watermark + ${maxCounted} and c.list = any(string_to_array(l.lists, ' '))) end as behind,
         ${openCount('l.sink_id', 'l.ref')} as open,
         l.delivered, l.recent, l.failure, l.failing_since, l.delivered_at
       from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null join pigeonholes p on p.ref = l.ref
       order by k.name, p.workspace, p.pigeonhole_id`,
    ),
    ledger.db.query<LaneOutcomeCount & { sink_id: number; ref: number }>(
      'select sink_id, ref, list, state, reason, changes from delivery_counts where changes > 0',
    ),
  ]);
  const outcomes = new Map<string, LaneOutcomeCount[]>();
  for (const { sink_id: sinkId, ref, ...count } of counts) {
    const lane = `${sinkId} ${ref}`;
    outcomes.set(lane, [...(outcomes.get(lane) ?? []), count]);
  }
  return {
    workspaces: workspaces.map((row) => ({
      name: row.name,
      waitReason: row.wait_reason,
      waitUntil: row.wait_until,
      discovered: row.discovered,
      unansweredSince: row.unanswered_since,
      unansweredReason: row.unanswered_reason,
    })),
    pigeonholes: pigeonholes.map((row) => ({
      workspace: row.workspace,
      pigeonholeId: row.pigeonhole_id,
      name: row.name,
      status: row.status,
      changes: row.changes,
      streams: row.streams,
      backfilling: row.backfilling,
      failing: row.failing,
      waiting: row.waiting,
      failure: row.failure,
      syncs: row.syncs?.split(' ') ?? [],
      rehearsal:
        row.rehearsal_until === null
          ? null
          : { since: row.rehearsal_since!, until: row.rehearsal_until, by: row.rehearsal_by },
      setAside: row.set_aside,
      foreignRows: row.foreign_rows,
      heldDeletions: row.held_deletions,
      goneAt: row.gone_at,
    })),
    lanes: lanes.map((row) => ({
      sink: row.sink,
      workspace: row.workspace,
      pigeonholeId: row.pigeonhole_id,
      behind: row.behind,
      open: row.open,
      delivered: row.delivered,
      outcomes: outcomes.get(`${row.sink_id} ${row.ref}`) ?? [],
      recent: row.recent,
      failure: row.failure,
      failingSince: row.failing_since,
      deliveredAt: row.delivered_at,
    })),
  };
}

interface PigeonholeRow {
  workspace: string;
  pigeonhole_id: number;
  name: string | null;
  status: string | null;
  changes: number;
  streams: number;
  backfilling: number;
  failing: number;
  waiting: number;
  failure: string | null;
  rehearsal_since: Date | null;
  rehearsal_until: Date | null;
  rehearsal_by: string | null;
  set_aside: number;
  foreign_rows: number;
  held_deletions: number;
  gone_at: Date | null;
  syncs: string | null;
}

interface LaneRow {
  sink_id: number;
  ref: number;
  recent: string;
  sink: string;
  workspace: string;
  pigeonhole_id: number;
  behind: number;
  open: number;
  delivered: number;
  failure: string | null;
  failing_since: Date | null;
  delivered_at: Date | null;
}

export interface ListCount {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly items: number;
}

export interface DeliveryCount extends ListCount {
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
  const deliveries = await ledger.db.query<{
    sink: string;
    workspace: string;
    pigeonhole_id: number;
    list: string;
    state: string;
    items: number;
  }>(
    `select k.name as sink, p.workspace, p.pigeonhole_id, i.list, d.state, count(*)::int as items
     from items i join pigeonholes p on p.ref = i.ref cross join sinks k
       cross join lateral (select state from deliveries where sink_id = k.id and ref = i.ref
         and sequence = i.last_sequence and replay = 0 limit 1) d
     where i.payload is not null group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
  );
  return {
    items,
    deliveries: deliveries.map(({ pigeonhole_id: pigeonholeId, ...row }) => ({ ...row, pigeonholeId })),
  };
}

/** Counts the items with a payload, by list. Reads the whole ledger. */
export async function countStored(ledger: Ledger): Promise<ListCount[]> {
  const rows = await ledger.db.query<{ workspace: string; pigeonhole_id: number; list: string; items: number }>(
    `select p.workspace, p.pigeonhole_id, i.list, count(*)::int as items
     from items i join pigeonholes p on p.ref = i.ref where i.payload is not null group by 1, 2, 3 order by 1, 2, 3`,
  );
  return rows.map(({ pigeonhole_id: pigeonholeId, ...row }) => ({ ...row, pigeonholeId }));
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
export type OutcomeCount = LaneOutcomeCount;

/** Returns the counts of one state by reason, the largest first. */
export function byReason(
  counts: readonly OutcomeCount[],
  state: OutcomeCount['state'],
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const each of counts) {
    if (each.state === state) sums.set(each.reason, (sums.get(each.reason) ?? 0) + each.changes);
  }
  return Object.fromEntries([...sums].toSorted(([, one], [, other]) => other - one));
}

/** Returns the sum of counts by reason. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}
