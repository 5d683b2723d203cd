import type { Config } from '../config/config.js';
import { findPigeonholeNumber, type Selected } from '../ledger/pigeonholes.js';
import { derivedLists, type ListName, pigeonholeLists, workspaceLists } from '../base/lists.js';
import { sinksWanting } from '../sinks/wanted-lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { placeName } from '../ledger/pauses.js';
import { byOrder, readableJson } from '../ledger/sql-expressions.js';

/**
 * A lane according to the configuration: the lists that a sink receives from one pigeonhole or, for pigeonhole id 0,
 * from the workspace itself.
 */
export interface PlannedLane {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly lists: readonly ListName[];
  /** For a workspace's own lists: the keys of the pigeonholes that the sink's syncs selected. */
  readonly selected: readonly string[];
}

/** The syncs that deliver to a sink. */
export function syncsTo(config: Pick<Config, 'syncs'>, sink: string): string[] {
  return Object.keys(config.syncs).filter((name) => config.syncs[name]!.sinks.includes(sink));
}

/**
 * The sink's lanes: the pigeonholes that its syncs selected, and the own lists of their workspaces. Pure.
 * @param selected the pigeonholes that these syncs selected, each with the syncs that selected it
 */
export function plannedLanes(
  config: Config,
  sink: string,
  selected: readonly Pick<Selected, 'workspace' | 'pigeonholeId' | 'syncs'>[],
): PlannedLane[] {
  const syncs = syncsTo(config, sink);
  const wanted = (lists: readonly ListName[], names: readonly string[]): ListName[] =>
    lists.filter((list) => names.some((name) => sinksWanting(config, name, list).includes(sink)));
  const lanes = selected.map(({ workspace, pigeonholeId, syncs: names }) => ({
    workspace,
    pigeonholeId,
    lists: wanted([...pigeonholeLists, ...derivedLists], names),
    selected: [],
  }));
  const workspaces = [...new Set(syncs.map((name) => config.syncs[name]!.workspace))];
  const own = workspaces.map((workspace) => ({
    workspace,
    pigeonholeId: 0,
    lists: wanted(
      workspaceLists,
      syncs.filter((name) => config.syncs[name]!.workspace === workspace),
    ),
    selected: selected.filter((row) => row.workspace === workspace).map(({ pigeonholeId }) => String(pigeonholeId)),
  }));
  return [...lanes, ...own];
}

/**
 * Returns the sink's lanes by the number of their pigeonhole, without those whose pigeonhole has none yet. Asks the store
 * only for the lanes of workspaces, so its cost does not depend on the number of pigeonholes.
 * @param selected the pigeonholes that the sink's syncs selected
 */
export async function numberedLanes(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  sink: string,
  selected: readonly Selected[],
): Promise<Map<number, PlannedLane>> {
  const numbers = new Map(selected.map((row) => [placeName(row), row.pigeonholeNumber]));
  const lanes = new Map<number, PlannedLane>();
  for (const lane of plannedLanes(config, sink, selected)) {
    const number =
      numbers.get(placeName(lane)) ?? (await findPigeonholeNumber(ledger.db, lane.workspace, lane.pigeonholeId));
    if (number !== undefined) lanes.set(number, lane);
  }
  return lanes;
}

/** The syncs of a configuration as a value for `isSent`; null if there is none, so that every lane counts as sent. */
export function sentByValue(config: Pick<Config, 'syncs'> | undefined): string | null {
  if (config === undefined) return null;
  const sent = Object.entries(config.syncs).flatMap(([sync, { workspace, sinks }]) =>
    sinks.map((sink) => ({ sync, workspace, sink })),
  );
  return JSON.stringify(sent);
}

/**
 * SQL condition: the configuration still sends to a lane. A lane stays after its pigeonhole leaves the configuration,
 * but nobody delivers its changes. `isSentTo` (operations/ledger-status.ts) is the same rule without SQL.
 * @param lane expressions of the sink's id and the pigeonhole's number, such as `d.sink_id, d.pigeonhole_number`
 * @param syncs placeholder of `sentByValue`
 */
export function isSent(lane: string, syncs: string): string {
  return `(${syncs}::text is null or (${lane}) in (
    select k.id, p.pigeonhole_number from json_to_recordset(${readableJson(`${syncs}::text::json`)}) as y (sync text,
      workspace text, sink text)
      join sinks k on k.name = y.sink join pigeonholes p on p.workspace = y.workspace
    where p.pigeonhole_id = 0
      or exists (select 1 from selections n where n.pigeonhole_number = p.pigeonhole_number and n.sync = y.sync
        and n.archived_at is null)))`;
}

/** A lane in the ledger; its sink may no longer be configured. */
export interface KnownLane {
  readonly sink: string;
  readonly sinkId: number;
  readonly isArchived: boolean;
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly watermark: number;
  /** Null if nothing was ever sent on it. */
  readonly configuration: number | null;
  readonly lists: readonly string[];
}

/** Returns every lane of these sinks, including lanes of archived sinks. */
export async function knownLanes(ledger: Ledger, sinks: readonly string[]): Promise<KnownLane[]> {
  const rows = await ledger.db.query<Omit<KnownLane, 'lists'> & { lists: string }>(
    `select k.name as sink, k.id as "sinkId", k.archived_at is not null as "isArchived",
       l.pigeonhole_number as "pigeonholeNumber", p.workspace,
       p.pigeonhole_id as "pigeonholeId", l.watermark, l.configuration, l.lists
     from lanes l join sinks k on k.id = l.sink_id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
     where k.name = any($1::text[]) order by k.name, p.pigeonhole_number`,
    [sinks],
  );
  return rows.map((row) => ({ ...row, lists: row.lists.split(' ').filter(Boolean) }));
}

/** Counts the changes of these lists after a watermark, by list. */
export async function countChangesBehind(
  ledger: Ledger,
  lane: { pigeonholeNumber: number; watermark: number; lists: readonly string[] },
): Promise<{ list: string; changes: number }[]> {
  return await ledger.db.query<{ list: string; changes: number }>(
    `select list, count(*)::int as changes from changes
     where pigeonhole_number = $1 and sequence > $2 and list = any($3::text[]) group by list order by list`,
    [lane.pigeonholeNumber, lane.watermark, lane.lists],
  );
}

/** Maximum number of changes after a watermark that are searched for a list, because `status` searches often. */
const maxSearched = 5000;

/**
 * Whether a sink may still send changes of the list: a delivery waits or is to be repeated, or more than `undecided`
 * changes are in progress or among the next `maxSearched` of each lane. False for an archived sink.
 */
export async function mayStillSend(ledger: Ledger, sink: string, list: string, undecided: number): Promise<boolean> {
  const [row] = await ledger.db.query<{ may: boolean }>(
    `with own as (select l.sink_id, l.pigeonhole_number, l.lists, l.watermark, p.next_sequence
       from sinks k join lanes l on l.sink_id = k.id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       where k.name = $1 and k.archived_at is null)
     select exists (select 1 from own l cross join lateral (select 1 from deliveries o
         where ${byOrder('o', 'l.sink_id', 'l.pigeonhole_number')} and o.state in ('waiting', 'retry') and o.list = $2
           limit 1) w)
       or (select count(*) from own l cross join lateral (
         (select 1 from changes c where l.next_sequence - 1 > l.watermark and c.pigeonhole_number = l.pigeonhole_number
           and c.list = $2 and c.sequence > l.watermark and c.sequence <= l.watermark + ${maxSearched}
           and (l.lists = '' or c.list = any(string_to_array(l.lists, ' '))) limit $3::int + 1)
         union all
         (select 1 from deliveries o where ${byOrder('o', 'l.sink_id', 'l.pigeonhole_number')} and o.state = 'sending'
           and o.list = $2 limit $3::int + 1)) w) > $3::int as may`,
    [sink, list, undecided],
  );
  return row!.may;
}

/** Counts the changes withheld from a sink in a pigeonhole, by list and reason. */
export async function countWithheld(
  ledger: Ledger,
  {
    sinkId,
    pigeonholeNumber,
    lists,
    keys,
  }: { sinkId: number; pigeonholeNumber: number; lists: readonly string[]; keys: readonly string[] | null },
): Promise<{ list: string; reason: string; changes: number }[]> {
  return await ledger.db.query<{ list: string; reason: string; changes: number }>(
    `select list, reason, count(*)::int as changes from deliveries
     where sink_id = $1 and pigeonhole_number = $2 and list = any($3::text[]) and state = 'withheld' and replay = 0
       and ($4::text[] is null or key = any($4::text[]))
     group by list, reason order by list, reason`,
    [sinkId, pigeonholeNumber, lists, keys],
  );
}
