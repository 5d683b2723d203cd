import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { allPauses, type Pause } from '../ledger/queries/pauses.js';
import { countItems, type LaneStatus, type LedgerStatus, ledgerStatus } from '../ledger/queries/status.js';

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
  readonly changes: number;
  readonly streams: number;
  readonly freshAsOf: string | null;
}

export interface SinkView {
  readonly name: string;
  readonly type: string;
  readonly state: WorkState;
  readonly reason: string | null;
  readonly delivered: number;
  /** Changes found and not yet settled. */
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
  const view = viewStatus({ config, configuration, trouble: trouble(), status, pauses, quotas: await quotas() });
  return withCounts ? { ...view, counts: await countItems(ledger) } : view;
}

/** The configured part of what the ledger says. Pure. */
export function viewStatus({
  config,
  configuration,
  trouble,
  status,
  pauses,
  quotas,
}: {
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: string | null;
  readonly status: LedgerStatus;
  readonly pauses: readonly Pause[];
  readonly quotas: ReadonlyMap<string, QuotaView>;
}): Status {
  const workspaces = Object.keys(config.workspaces).map((name) =>
    workspaceView(name, status, pauses, quotas.get(name) ?? null),
  );
  const sinks = Object.entries(config.sinks).map(([name, { type }]) => sinkView(name, type, status, pauses));
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
    changes: row.changes,
    streams: row.streams,
    freshAsOf: row.freshAsOf?.toISOString() ?? null,
  };
}

function sinkView(name: string, type: string, status: LedgerStatus, pauses: readonly Pause[]): SinkView {
  const lanes = status.lanes.filter((lane) => lane.sink === name);
  const pause = pauses.find((each) => each.scope === 'sink' && each.name === name);
  const failing = lanes.find(({ failure }) => failure !== null);
  const latest = Math.max(...lanes.map(({ deliveredAt }) => deliveredAt?.getTime() ?? 0), 0);
  return {
    name,
    type,
    state: pause ? 'paused' : failing ? 'failing' : 'working',
    reason: pause?.detail ?? failing?.failure ?? null,
    delivered: lanes.reduce((sum, lane) => sum + lane.delivered, 0),
    backlog: lanes.reduce((sum, lane) => sum + lane.behind + lane.open, 0),
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
  // A lane exists once its sink has looked at the pigeonhole: until then nothing says that there is no backlog.
  const changed = status.pigeonholes.filter(({ changes }) => changes > 0).length;
  const used = new Set(syncs.flatMap((sync) => sync.sinks));
  const looked = [...used].every((sink) => status.lanes.filter((lane) => lane.sink === sink).length >= changed);
  const goesOn =
    workspaces.every(
      (workspace) => !syncs.some((sync) => sync.workspace === workspace.name) || !standsStill(workspace),
    ) && sinks.every((sink) => !used.has(sink.name) || !standsStill(sink));
  return discovered && read && looked && goesOn && sinks.every(({ backlog }) => backlog === 0);
}

function standsStill(view: WorkspaceView | SinkView): boolean {
  const parts = 'pigeonholes' in view ? view.pigeonholes : [];
  return [view, ...parts].some(({ state }) => state === 'paused' || state === 'waiting' || state === 'failing');
}
