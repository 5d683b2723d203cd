import { isObserving } from '../base/delivery-words.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { allApprovals } from '../ledger/sinks.js';
import { observedLanes } from '../delivering/observe-lanes.js';
import { allPauses, type Pause } from '../ledger/pauses.js';
import { type NamedPigeonhole, pigeonholeNames } from '../ledger/pigeonholes.js';
import { type LaneState, laneStates } from '../delivering/read-lanes.js';
import { openReplays } from '../delivering/replays.js';
import {
  countItems,
  type LaneStatus,
  type LedgerStatus,
  ledgerStatus,
  byReason,
  nameOf,
  isSentTo,
  sentLanes,
} from './ledger-status.js';
import { type AllFreshness, judgeFreshness, readFreshness, readingWait } from './freshness.js';
import type { HindranceMemory } from './lateness.js';
import type { ReadingWait } from '../base/reading-words.js';
import { findObservedWithholding, findWithholding } from './withholding.js';
import {
  noOperations,
  operatedSink,
  type SinkOperations,
  viewPause,
  type OperatedSink,
  type PigeonholeView,
  type QuotaView,
  type SinkView,
  type Status,
  type WorkspaceView,
} from './status-view.js';
import { viewProblems, type WorkSnapshot } from './find-problems.js';
import { serviceDownTitle } from './problems.js';

/** The configuration as far as it concerns one workspace. */
export function configOf<Part extends Pick<Config, 'workspaces' | 'syncs' | 'sinks'>>(
  config: Part,
  workspace: string | null,
): Part {
  if (workspace === null) return config;
  const only = <Value>(group: Readonly<Record<string, Value>>, keep: (name: string, value: Value) => boolean) =>
    Object.fromEntries(Object.entries(group).filter(([name, value]) => keep(name, value)));
  const syncs = only(config.syncs, (_, sync) => sync.workspace === workspace);
  const used = new Set(Object.values(syncs).flatMap((sync) => sync.sinks));
  return {
    ...config,
    workspaces: only(config.workspaces, (name) => name === workspace),
    syncs,
    sinks: only(config.sinks, (name) => used.has(name)),
  };
}

/** The status, and the snapshot in which its problems were found. */
interface StatusSnapshot {
  readonly status: Status;
  readonly snapshot: WorkSnapshot & { readonly lanes: readonly LaneState[] };
  readonly places: readonly NamedPigeonhole[];
}

export interface StatusSources {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: () => string | null;
  /** By workspace. */
  readonly quotas: () => Promise<ReadonlyMap<string, QuotaView>>;
  /** Milliseconds since this process started; absent: long ago. */
  readonly upMs?: () => number;
  /** Absent: lists are judged as if nothing had prevented reading. */
  readonly hindrances?: HindranceMemory;
}

/** @param workspace null: all of them */
export async function readStatus(
  sources: StatusSources,
  withCounts: boolean,
  workspace: string | null = null,
): Promise<Status> {
  return (await readSnapshot(sources, withCounts, workspace)).status;
}

/** Reads the status, and the snapshot for its problems, at one moment. @param workspace null: all of them */
export async function readSnapshot(
  { ledger, config, configuration, trouble, quotas, upMs, hindrances }: StatusSources,
  withCounts: boolean,
  workspace: string | null,
): Promise<StatusSnapshot> {
  // All statements are sent at the same time. The embedded store runs one statement at a time, so if each were sent after
  // the previous one, each would wait for a page or a batch that is being stored.
  const [whole, allLanes, places, freshness, pauses, observed, approvals, replays, quota] = await Promise.all([
    ledgerStatus(ledger),
    laneStates(ledger, { sink: null, workspace, after: null, limit: null }),
    pigeonholeNames(ledger, workspace),
    readFreshness(ledger),
    allPauses(ledger),
    observedLanes(ledger),
    allApprovals(ledger),
    openReplays(ledger),
    quotas(),
  ]);
  const read = statusOf(whole, workspace);
  const operations = { observed: own(observed, workspace), approvals, replays };
  const now = new Date(ledger.clock.nowMs());
  const lanes = sentLanes(config, allLanes, places);
  const ownConfig = configOf(config, workspace);
  const sent = sentLanes(ownConfig, read.lanes, read.pigeonholes);
  const view = viewStatus({
    config: ownConfig,
    configuration,
    trouble: trouble(),
    status: read,
    freshness,
    upMs: upMs?.(),
    hindrances,
    pauses,
    operations,
    quotas: quota,
    withholding: await allWithholding(ledger, ownConfig, sent, operations),
  });
  const snapshot = { ...view, lanes, now };
  const status = { ...view, problems: viewProblems(snapshot) };
  if (!withCounts) return { status, snapshot, places };
  const { items, deliveries } = await countItems(ledger);
  const counts = { items: own(items, workspace), deliveries: own(deliveries, workspace) };
  return { status: { ...status, counts }, snapshot, places };
}

/** Returns the withholding of sending and observing sinks, by sink. */
async function allWithholding(
  ledger: Ledger,
  config: Config,
  sent: Parameters<typeof findWithholding>[2],
  operations: SinkOperations,
): Promise<ReadonlyMap<string, SinkView['withholding']>> {
  const found = new Map(await findWithholding(ledger, config, sent));
  for (const [name, { mode }] of Object.entries(config.sinks)) {
    const operated = operatedSink(name, mode, operations);
    if (!isObserving(operated)) continue;
    const observed = await findObservedWithholding(ledger, config, name, operated.observation);
    if (observed.length > 0) found.set(name, observed);
  }
  return found;
}

export function own<Row extends { readonly workspace: string }>(
  rows: readonly Row[],
  workspace: string | null,
): readonly Row[] {
  return workspace === null ? rows : rows.filter((row) => row.workspace === workspace);
}

function statusOf({ workspaces, pigeonholes, lanes }: LedgerStatus, workspace: string | null): LedgerStatus {
  return {
    workspaces: workspaces.filter(({ name }) => workspace === null || name === workspace),
    pigeonholes: own(pigeonholes, workspace),
    lanes: own(lanes, workspace),
  };
}

/** Returns the part of the ledger's status that is configured. Its only side effect is on `hindrances`. */
export function viewStatus({
  config,
  configuration,
  trouble,
  status,
  freshness = { at: new Date(0), byPlace: new Map() },
  upMs,
  hindrances,
  pauses,
  operations = noOperations,
  quotas,
  withholding = new Map(),
}: {
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: string | null;
  readonly status: LedgerStatus;
  readonly freshness?: AllFreshness;
  readonly upMs?: number | undefined;
  readonly hindrances?: HindranceMemory | undefined;
  readonly pauses: readonly Pause[];
  readonly operations?: SinkOperations;
  readonly quotas: ReadonlyMap<string, QuotaView>;
  /** By sink. */
  readonly withholding?: ReadonlyMap<string, SinkView['withholding']>;
}): Omit<Status, 'problems'> {
  const used = new Set(Object.values(config.syncs).map(({ workspace }) => workspace));
  const workspaces = Object.keys(config.workspaces).map((name) =>
    workspaceView(name, { status, freshness, upMs, hindrances, pauses, used }, quotas.get(name) ?? null),
  );
  const lanes = sentLanes(config, status.lanes, status.pigeonholes);
  const sinks = Object.entries(config.sinks).map(([name, { type, mode }]) =>
    sinkView(
      { name, type, ...operatedSink(name, mode, operations), withholding: withholding.get(name) ?? [] },
      lanes,
      pauses,
    ),
  );
  const settled = trouble === null && isSettled(config, status, { workspaces, sinks });
  return { configuration, trouble, settled, workspaces, sinks };
}

interface ReadingFacts {
  readonly status: LedgerStatus;
  readonly freshness: AllFreshness;
  readonly upMs: number | undefined;
  readonly hindrances: HindranceMemory | undefined;
  readonly pauses: readonly Pause[];
  /** Workspaces that a sync uses. The others are not read, so their lists are not late. */
  readonly used: ReadonlySet<string>;
}

function workspaceView(name: string, reading: ReadingFacts, quota: QuotaView | null): WorkspaceView {
  const { status, pauses } = reading;
  const row = status.workspaces.find((workspace) => workspace.name === name);
  const pause = pauses.find((each) => each.scope === 'workspace' && each.name === name);
  const rows = status.pigeonholes.filter((pigeonhole) => pigeonhole.workspace === name);
  const waits = row?.waitReason != null;
  const waitingLists = rows.reduce((sum, { waiting }) => sum + waiting, 0);
  const unanswered =
    row?.unansweredSince == null
      ? null
      : { since: row.unansweredSince.toISOString(), reason: row.unansweredReason ?? 'the service does not answer' };
  const facts = { pause: pause === undefined ? null : viewPause(pause), unanswered, waits: row?.waitReason ?? null };
  const wait = row === undefined ? null : readingWait(row, reading.freshness.at);
  const since = earliest([pause?.since, row?.unansweredSince]);
  const pigeonholes = rows.map((pigeonhole) =>
    pigeonholeView(pigeonhole, reading, {
      waits: hindranceWords(name, facts),
      wait,
      isPaused: pause !== undefined,
      since,
    }),
  );
  const failing = pigeonholes.find(({ state }) => state === 'failing');
  return {
    name,
    state: pause
      ? 'paused'
      : waits || unanswered
        ? 'waiting'
        : failing
          ? 'failing'
          : pigeonholes.some(({ state }) => state === 'backfilling')
            ? 'backfilling'
            : 'working',
    reason:
      pause?.detail ??
      row?.waitReason ??
      (unanswered === null ? failing?.reason : serviceDownTitle(name, unanswered.since, waitingLists)) ??
      null,
    until: row?.waitUntil?.toISOString() ?? null,
    pause: facts.pause,
    unanswered,
    waitingLists,
    quota,
    pigeonholes,
  };
}

/**
 * @param workspace.waits why nothing of the workspace can be read; null: it can be read
 * @param workspace.wait until when the workspace waits for the service or the quota; null: it does not
 * @param workspace.isPaused whether an operator or pigeonpost has paused the workspace
 * @param workspace.since when it was paused or stopped answering; null: neither, or for another reason
 */
function pigeonholeView(
  row: LedgerStatus['pigeonholes'][number],
  { freshness: { at, byPlace }, upMs, hindrances: memory, pauses, used }: ReadingFacts,
  workspace: {
    readonly waits: string | null;
    readonly wait: ReadingWait | null;
    readonly isPaused: boolean;
    readonly since: Date | null;
  },
): PigeonholeView {
  const name = `${row.workspace}/${row.pigeonholeId}`;
  const { rehearsalSince, rehearsalUntil, rehearsalBy } = row;
  const { groups, maybeLate } = byPlace.get(name) ?? { groups: [], maybeLate: [] };
  const known = { groups, maybeLate: used.has(row.workspace) ? maybeLate : [] };
  const pause = pauses.find((each) => each.scope === 'pigeonhole' && each.name === name);
  const { waits, wait } = workspace;
  const paused = workspace.isPaused || pause !== undefined;
  const since = earliest([workspace.since, pause?.since]) ?? at;
  const hinderedMs = paused || waits !== null ? Math.max(0, at.getTime() - since.getTime()) : null;
  const hindrances = memory?.note(name, hinderedMs);
  const freshness = judgeFreshness(known, { paused, waits: wait, now: at, upMs, hindrances });
  return {
    id: row.pigeonholeId,
    name: row.name,
    status: row.status,
    state: pause
      ? 'paused'
      : waits !== null && row.goneAt === null
        ? 'waiting'
        : row.failing > 0
          ? 'failing'
          : row.backfilling > 0
            ? 'backfilling'
            : 'working',
    reason: pause?.detail ?? (row.goneAt === null ? waits : null) ?? row.failure,
    pause: pause === undefined ? null : viewPause(pause),
    changes: row.changes,
    streams: row.streams,
    failing: row.failing,
    freshAsOf: freshness.readAt,
    freshness,
    rehearsal:
      rehearsalUntil === null
        ? null
        : { since: rehearsalSince!.toISOString(), until: rehearsalUntil.toISOString(), by: rehearsalBy },
    setAside: row.setAside,
    foreignRows: row.foreignRows,
    heldDeletions: row.heldDeletions,
    goneAt: row.goneAt?.toISOString() ?? null,
  };
}

function earliest(instants: readonly (Date | null | undefined)[]): Date | null {
  const known = instants.flatMap((each) => each?.getTime() ?? []);
  return known.length === 0 ? null : new Date(Math.min(...known));
}

function sinkView(
  sink: OperatedSink & Pick<SinkView, 'name' | 'type' | 'withholding'>,
  all: readonly LaneStatus[],
  pauses: readonly Pause[],
): SinkView {
  const { name } = sink;
  const lanes = all.filter((lane) => lane.sink === name);
  const pause = pauses.find((each) => each.scope === 'sink' && each.name === name);
  // The failed change may have been superseded or withheld since. Then no change is left, and the failure is over.
  const failing = lanes.find(({ failure, behind, open }) => failure !== null && behind + open > 0);
  const latest = Math.max(...lanes.map(({ deliveredAt }) => deliveredAt?.getTime() ?? 0), 0);
  const outcomes = lanes.flatMap((lane) => lane.outcomes);
  return {
    ...sink,
    state: pause ? 'paused' : failing ? 'failing' : 'working',
    reason: pause?.detail ?? failing?.failure ?? null,
    pause: pause === undefined ? null : viewPause(pause),
    delivered: lanes.reduce((sum, lane) => sum + lane.delivered, 0),
    backlog: isObserving(sink)
      ? sink.observation.behind
      : lanes.reduce((sum, lane) => sum + lane.behind + lane.open, 0),
    withheld: byReason(outcomes, 'withheld'),
    dead: byReason(outcomes, 'dead'),
    deliveredAt: latest === 0 ? null : new Date(latest).toISOString(),
  };
}

/**
 * Says whether everything was read once, every change is settled at every sink, and nothing that a sync uses is paused,
 * waits or fails.
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
  const read = status.pigeonholes.every(({ backfilling, unread }) => backfilling === 0 && unread === 0);
  const used = new Set(syncs.flatMap((sync) => sync.sinks));
  // A lane exists only after pigeonpost first planned the pigeonhole for the sink. Before that, an empty backlog proves nothing.
  const changed = status.pigeonholes.filter(({ changes }) => changes > 0);
  const haveLanes = [...used].every((sink) =>
    changed
      .filter((place) => isSentTo(config, sink, place))
      .every((place) => status.lanes.some((lane) => lane.sink === sink && nameOf(lane) === nameOf(place))),
  );
  const isRunning =
    workspaces.every(
      (workspace) => !syncs.some((sync) => sync.workspace === workspace.name) || !isStopped(workspace),
    ) && sinks.every((sink) => !used.has(sink.name) || !isStopped(sink));
  const current = workspaces.every(({ pigeonholes }) =>
    pigeonholes.every(
      ({ goneAt, freshness }) => goneAt !== null || (!freshness.catchingUp && freshness.lateLists === 0),
    ),
  );
  const delivered = sinks.every(({ backlog, replays }) => backlog === 0 && replays.length === 0);
  return discovered && read && haveLanes && isRunning && current && delivered;
}

function isStopped(view: WorkspaceView | SinkView): boolean {
  const parts = 'pigeonholes' in view ? view.pigeonholes : [];
  return [view, ...parts].some(({ state }) => state === 'paused' || state === 'waiting' || state === 'failing');
}

/** The reasons why a whole workspace is not read. */
interface WorkspaceHindrance {
  readonly pause: { readonly pausedBy: string; readonly cause: string } | null;
  readonly unanswered: object | null;
  readonly waits: string | null;
}

/** Returns the reason why a pigeonhole waits although nothing is wrong with the pigeonhole itself; null: it does not. Pure. */
function hindranceWords(workspace: string, { pause, unanswered, waits }: WorkspaceHindrance): string | null {
  if (pause?.pausedBy === 'person') return `workspace ${workspace} is paused`;
  if (pause?.cause === 'credential' || waits === 'credential') {
    return `waits for the key of workspace ${workspace}, which the service refuses`;
  }
  if (pause !== null) return `workspace ${workspace} is paused`;
  if (unanswered !== null) return 'waits for the service, which does not answer';
  if (waits === 'quota') return `waits for the request quota of workspace ${workspace}`;
  return waits === null ? null : 'waits because the service requested a pause';
}
