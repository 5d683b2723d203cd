import type { Config } from '../config/config.js';
import type { Selected } from '../ledger/pigeonholes.js';
import { pigeonholeLists, workspaceLists } from '../pigeonhole/lists.js';
import { derivedLists, type SentListName } from '../work/derived-lists.js';
import { sinksWanting } from '../work/reading-plan.js';

/** What a sink is sent of one pigeonhole, or (pigeonhole id 0) of a workspace's own lists. */
export interface PlannedLane {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly lists: readonly SentListName[];
  /** Of a workspace's own lists: the keys of the pigeonholes that the sink's syncs have chosen. */
  readonly selected: readonly string[];
}

/** The syncs that deliver to a sink. */
export function syncsTo(config: Pick<Config, 'syncs'>, sink: string): string[] {
  return Object.keys(config.syncs).filter((name) => config.syncs[name]!.sinks.includes(sink));
}

/**
 * The sink's lanes: the pigeonholes that its syncs selected, and the own lists of their workspaces. Pure.
 * @param selected by these syncs, each with those of them that selected it
 */
export function plannedLanes(
  config: Config,
  sink: string,
  selected: readonly Pick<Selected, 'workspace' | 'pigeonholeId' | 'syncs'>[],
): PlannedLane[] {
  const syncs = syncsTo(config, sink);
  const wanted = (lists: readonly SentListName[], names: readonly string[]): SentListName[] =>
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
