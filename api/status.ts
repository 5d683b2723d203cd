import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { allApprovals } from '../ledger/queries/approvals.js';
import { observedLanes } from '../ledger/queries/observations.js';
import { allPauses, type Pause } from '../ledger/queries/pauses.js';
import { openReplays } from '../ledger/queries/replays.js';
import {
  countItems,
  type LaneStatus,
  type LedgerStatus,
  ledgerStatus,
  type PigeonholeStatus,
} from '../ledger/queries/status.js';
import {
  noOperations,
  type OperatedSink,
  operatedSink,
  type PauseView,
  type SinkOperations,
  viewPause,
} from './sink-operations.js';

export type WorkState = 'working' | 'backfilling' | 'waiting' | 'paused' | 'failing';

/** What `pigeonpost status` shows: each workspace, pigeonhole and sink, with why it stands where it does. */
export interface Status {
  readonly configuration: number;
  /** Why nothing at all gets on: the store, the process; null when it does. */
  readonly trouble: string | null;
  /**
   * Everything was read at least once, every change is delivered, withheld, superseded or a dead letter, and nothing
   * that is used is paused, waits or fails: what stands still cannot know what it misses.
   */
  readonly settled: boolean;
  readonly workspaces: readonly WorkspaceView[];
  readonly sinks: readonly SinkView[];
  /** Only when asked for: they take reading the whole ledger. */
  readonly counts?: Awaited<ReturnType<typeof countItems>>;
}

export interface WorkspaceView {
  readonly name: string;
  readonly state: WorkState;
  readonly reason: string | null;
  readonly until: string | null;
  /** Who stopped it; null when nobody and nothing has. */
  readonly pause: PauseView | null;
  /** Null: no request was made with its key yet. */
  readonly quota: QuotaView | null;
  readonly pigeonholes: readonly PigeonholeView[];
}

/** How the request quota of a workspace's key stands. Other workspaces with the same key use the same quota. */
export interface QuotaView {
  /** Requests of a window; null: not known, the service does not say and has not refused one yet. */
  readonly limit: number | null;
  /** The limit was learnt from a refusal; else it is the service's word. */
  readonly learnt: boolean;
  readonly used: number;
  /** At most; null: not known. */
  readonly left: number | null;
  /** Of what is left, kept for imports. */
  readonly reserved: number;
  /** The end of the window; null: the service does not say. */
  readonly resetAt: string | null;
  /** Requests that reading needs within the next hour, at the configured intervals. */
  readonly nextHour: { readonly live: number; readonly idle: number; readonly sweep: number; readonly all: number };
  /** When what reading may use is used up at that rate; null: not before the reset, or not known. */
  readonly lastsUntil: string | null;
}

export interface PigeonholeView {
  /** 0: the workspace's own lists. */
  readonly id: number;
  readonly status: string | null;
  readonly state: WorkState;
  readonly reason: string | null;
  readonly pause: PauseView | null;
  readonly changes: number;
  readonly streams: number;
  readonly freshAsOf: string | null;
}

export interface SinkView extends OperatedSink {
  readonly name: string;
  readonly type: string;
  readonly state: WorkState;
  readonly reason: string | null;
  readonly pause: PauseView | null;
  readonly delivered: number;
  /** Changes found and not yet settled; of a sink that observes, not yet looked at. */
  readonly backlog: number;
  readonly withheld: Readonly<Record<string, number>>;
  readonly dead: Readonly<Record<string, number>>;
  readonly deliveredAt: string | null;
}

export interface StatusSources {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: () => string | null;
  /** By workspace. */
  readonly quotas: () => Promise<ReadonlyMap<string, QuotaView>>;
}

export async function readStatus(
  { ledger, config, configuration, trouble, quotas }: StatusSources,
  withCounts: boolean,
): Promise<Status> {
  const status = await ledgerStatus(ledger);
  const pauses = await allPauses(ledger);
  const operations = {
    observed: await observedLanes(ledger),
    approvals: await allApprovals(ledger),
    replays: await openReplays(ledger),
  };
  const view = viewStatus({
    config,
    configuration,
    trouble: trouble(),
    status,
    pauses,
    operations,
    quotas: await quotas(),
  });
  return withCounts ? { ...view, counts: await countItems(ledger) } : view;
}

/** The configured part of what the ledger says. Pure. */
export function viewStatus({
  config,
  configuration,
  trouble,
  status,
  pauses,
  operations = noOperations,
  quotas,
}: {
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: string | null;
  readonly status: LedgerStatus;
  readonly pauses: readonly Pause[];
  readonly operations?: SinkOperations;
  readonly quotas: ReadonlyMap<string, QuotaView>;
}): Status {
  const workspaces = Object.keys(config.workspaces).map((name) =>
    workspaceView(name, status, pauses, quotas.get(name) ?? null),
  );
  // What a sink is no longer sent keeps its lane, and is no backlog.
  const lanes = status.lanes.filter((lane) =>
    status.pigeonholes.some((place) => isSamePlace(lane, place) && isSentTo(config, lane.sink, place)),
  );
  const sinks = Object.entries(config.sinks).map(([name, { type, mode }]) =>
    sinkView({ name, type, ...operatedSink(name, mode, operations) }, lanes, pauses),
  );
  const settled = trouble === null && isSettled(config, status, { workspaces, sinks });
  return { configuration, trouble, settled, workspaces, sinks };
}

function workspaceView(
  name: string,
  status: LedgerStatus,
  pauses: readonly Pause[],
  quota: QuotaView | null,
): WorkspaceView {
  const row = status.workspaces.find((workspace) => workspace.name === name);
  const pause = pauses.find((each) => each.scope === 'workspace' && each.name === name);
  const pigeonholes = status.pigeonholes
    .filter((pigeonhole) => pigeonhole.workspace === name)
    .map((pigeonhole) => pigeonholeView(pigeonhole, pauses));
  const waits = row?.waitReason != null;
  const failing = pigeonholes.find(({ state }) => state === 'failing');
  return {
    name,
    state: pause
      ? 'paused'
      : waits
        ? 'waiting'
        : failing
          ? 'failing'
          : pigeonholes.some(({ state }) => state === 'backfilling')
            ? 'backfilling'
            : 'working',
    reason: pause?.detail ?? row?.waitReason ?? failing?.reason ?? null,
    until: row?.waitUntil?.toISOString() ?? null,
    pause: pause === undefined ? null : viewPause(pause),
    quota,
    pigeonholes,
  };
}

function pigeonholeView(row: LedgerStatus['pigeonholes'][number], pauses: readonly Pause[]): PigeonholeView {
  const name = `${row.workspace}/${row.pigeonholeId}`;
  const pause = pauses.find((each) => each.scope === 'pigeonhole' && each.name === name);
  return {
    id: row.pigeonholeId,
    status: row.status,
    state: pause ? 'paused' : row.failing > 0 ? 'failing' : row.backfilling > 0 ? 'backfilling' : 'working',
    reason: pause?.detail ?? row.failure,
    pause: pause === undefined ? null : viewPause(pause),
    changes: row.changes,
    streams: row.streams,
    freshAsOf: row.freshAsOf?.toISOString() ?? null,
  };
}

function sinkView(
  sink: OperatedSink & Pick<SinkView, 'name' | 'type'>,
  all: readonly LaneStatus[],
  pauses: readonly Pause[],
): SinkView {
  const { name } = sink;
  const lanes = all.filter((lane) => lane.sink === name);
  const pause = pauses.find((each) => each.scope === 'sink' && each.name === name);
  const failing = lanes.find(({ failure }) => failure !== null);
  const latest = Math.max(...lanes.map(({ deliveredAt }) => deliveredAt?.getTime() ?? 0), 0);
  const observes = sink.observation !== null && sink.approval === null;
  return {
    ...sink,
    state: pause ? 'paused' : failing ? 'failing' : 'working',
    reason: pause?.detail ?? failing?.failure ?? null,
    pause: pause === undefined ? null : viewPause(pause),
    delivered: lanes.reduce((sum, lane) => sum + lane.delivered, 0),
    backlog: observes ? sink.observation!.behind : lanes.reduce((sum, lane) => sum + lane.behind + lane.open, 0),
    withheld: addUp(lanes.map((lane) => lane.withheld)),
    dead: addUp(lanes.map((lane) => lane.dead)),
    deliveredAt: latest === 0 ? null : new Date(latest).toISOString(),
  };
}

function addUp(counts: readonly LaneStatus['withheld'][]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [reason, n] of counts.flatMap((each) => Object.entries(each))) sum[reason] = (sum[reason] ?? 0) + n;
  return sum;
}

/**
 * Nothing is left to read for the first time, every change that was found has had its end at every sink, and all that
 * a sync uses goes on.
 */
function isSettled(
  config: Config,
  status: LedgerStatus,
  { workspaces, sinks }: Pick<Status, 'workspaces' | 'sinks'>,
): boolean {
  const syncs = Object.values(config.syncs);
  const discovered = syncs.every(({ workspace }) =>
    status.workspaces.some((row) => row.name === workspace && row.discovered),
  );
  const read = status.pigeonholes.every(({ backfilling, failing }) => backfilling === 0 && failing === 0);
  const used = new Set(syncs.flatMap((sync) => sync.sinks));
  // A lane exists once its sink has looked at the pigeonhole: until then nothing says that there is no backlog.
  const changed = status.pigeonholes.filter(({ changes }) => changes > 0);
  const looked = [...used].every((sink) =>
    changed
      .filter((place) => isSentTo(config, sink, place))
      .every((place) => status.lanes.some((lane) => lane.sink === sink && isSamePlace(lane, place))),
  );
  const goesOn =
    workspaces.every(
      (workspace) => !syncs.some((sync) => sync.workspace === workspace.name) || !standsStill(workspace),
    ) && sinks.every((sink) => !used.has(sink.name) || !standsStill(sink));
  const delivered = sinks.every(({ backlog, replays }) => backlog === 0 && replays.length === 0);
  return discovered && read && looked && goesOn && delivered;
}

/** Some sync of the sink reads the pigeonhole, or (of a workspace's own lists) the workspace. */
function isSentTo(config: Config, sink: string, { workspace, pigeonholeId, syncs }: PigeonholeStatus): boolean {
  return Object.entries(config.syncs).some(
    ([name, sync]) =>
      sync.workspace === workspace && sync.sinks.includes(sink) && (pigeonholeId === 0 || syncs.includes(name)),
  );
}

interface Place {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.workspace === b.workspace && a.pigeonholeId === b.pigeonholeId;
}

function standsStill(view: WorkspaceView | SinkView): boolean {
  const parts = 'pigeonholes' in view ? view.pigeonholes : [];
  return [view, ...parts].some(({ state }) => state === 'paused' || state === 'waiting' || state === 'failing');
}
