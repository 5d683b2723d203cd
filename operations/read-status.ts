import { isObserving } from '../base/delivery-words.js';
import { groupBy } from '../base/grouping.js';
import type { ReadingWait } from '../base/reading-words.js';
import { WorkSlices } from '../base/work-slices.js';
import type { Config } from '../config/config.js';
import type { UnsettledLane } from '../delivering/read-lanes.js';
import { openReplays } from '../delivering/replays.js';
import type { UnreadableFolder } from '../importing/drop-folders/drop-folders.js';
import type { SinkParity } from '../delivering/parity/lane-parity.js';
import type { Ledger } from '../ledger/ledger.js';
import type { FailingExports } from '../ledger/nightly-exports.js';
import { allPauses, type Pause, placeName } from '../ledger/pauses.js';
import type { NamedPigeonhole } from '../ledger/pigeonholes.js';
import type { UnusableFile } from './configuration-file.js';
import { behindMsOf, viewProblems } from './find-problems.js';
import { type AllFreshness, judgeFreshness, readingWait } from './freshness.js';
import type { HindranceMemory } from './lateness.js';
import {
  byReason,
  deliveryCounts,
  isSentTo,
  type LedgerStatus,
  type PigeonholeStatus,
  readingFacts,
  sentLanes,
  storedItemCounts,
  type SinkOutcome,
  type SweepState,
} from './ledger-status.js';
import { serviceDownTitle } from './problem-sentences.js';
import { StatusMemory } from './status-memory.js';
import {
  type OperatedSink,
  operatedSink,
  type PauseView,
  type PigeonholeView,
  type QuotaView,
  type SinkOperations,
  type SinkView,
  type Status,
  viewPause,
  type WorkspaceView,
} from './status-view.js';
import { findObservedWithholding, findWithholding } from './withholding.js';
import { readWorkFacts, type WorkFacts } from './work-facts.js';

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

/** The status with the facts that its problems and further views need, read at one moment. */
export interface StatusSnapshot {
  readonly status: Status;
  /** Lanes on which something is left to do or fails. */
  readonly lanes: readonly UnsettledLane[];
  readonly places: readonly NamedPigeonhole[];
  readonly sweeps: readonly SweepState[];
  /** The drop folders that this process cannot read. */
  readonly folders: readonly UnreadableFolder[];
  /** Nightly exports that fail. */
  readonly exports: readonly FailingExports[];
  /** The mistake in the file of this process; null: none. */
  readonly file: UnusableFile | null;
  readonly now: Date;
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
  /** The drop folders that this process could not read; none if it does not import. */
  readonly unreadableFolders?: () => readonly UnreadableFolder[];
  /** The mistake in the file of this process; absent: not watched. */
  readonly unusableFile?: () => UnusableFile | null;
  /** Shared by the readers of the status in this process; absent: each reads for itself. */
  readonly memory?: StatusMemory;
}

/** Returns the workspaces as the status shows them, and reads nothing of deliveries. */
export async function readReading({
  ledger,
  config,
  configuration,
  upMs,
  hindrances,
}: Pick<StatusSources, 'ledger' | 'config' | 'configuration' | 'upMs' | 'hindrances'>): Promise<{
  readonly workspaces: Status['workspaces'];
  readonly now: Date;
}> {
  const [{ workspaces, pigeonholes, freshness }, pauses] = await Promise.all([readingFacts(ledger), allPauses(ledger)]);
  const now = new Date(ledger.clock.nowMs());
  const view = await viewStatus({
    config,
    configuration,
    trouble: null,
    status: { workspaces, pigeonholes, sinks: [], outcomes: [], lanes: [], parities: [] },
    freshness,
    upMs: upMs?.(),
    hindrances,
    pauses,
    sinks: [],
    quotas: new Map(),
  });
  return { workspaces: view.workspaces, now };
}

/** @param workspace null: all of them */
export async function readStatus(
  sources: StatusSources,
  withCounts: boolean,
  workspace: string | null = null,
): Promise<Status> {
  const { status } = await readSnapshot(sources, workspace);
  if (!withCounts) return status;
  const [items, deliveries] = await Promise.all([storedItemCounts(sources.ledger), deliveryCounts(sources.ledger)]);
  return { ...status, counts: { items: own(items, workspace), deliveries: own(deliveries, workspace) } };
}

/**
 * Returns the status with the facts behind it. Callers in a process with a `memory` share it.
 * @param workspace null: all of them
 * @param options.withQuotas false: leaves out the quotas, whose forecast is the most expensive part
 */
export async function readSnapshot(
  sources: StatusSources,
  workspace: string | null,
  { withQuotas = true } = {},
): Promise<StatusSnapshot> {
  const { memory = new StatusMemory(), configuration } = sources;
  const [facts, quotas] = await Promise.all([
    memory.facts(configuration, () => readWorkFacts(sources, memory.backlogs)),
    withQuotas ? memory.quotas(configuration, sources.quotas) : new Map<string, QuotaView>(),
  ]);
  const name = JSON.stringify([workspace, withQuotas]);
  return await memory.snapshot(facts, name, () => viewSnapshot(sources, { facts, quotas, workspace }));
}

async function viewSnapshot(
  { ledger, config, configuration, trouble, upMs, hindrances, unreadableFolders, unusableFile }: StatusSources,
  {
    facts,
    quotas,
    workspace,
  }: {
    readonly facts: WorkFacts;
    readonly quotas: ReadonlyMap<string, QuotaView>;
    readonly workspace: string | null;
  },
): Promise<StatusSnapshot> {
  const { status: all, freshness, sweeps, pauses, observed, approvals, replays } = facts;
  const now = new Date(ledger.clock.nowMs());
  const ownConfig = configOf(config, workspace);
  const pigeonholes = own(all.pigeonholes, workspace);
  const lanes = own(all.lanes, workspace);
  const status: LedgerStatus = {
    workspaces: all.workspaces,
    pigeonholes,
    sinks: own(all.sinks, workspace),
    outcomes: own(all.outcomes, workspace),
    lanes,
    parities: own(all.parities, workspace),
  };
  // A replay in a pigeonhole that the sink no longer receives continues only when the sink receives it again.
  const sentReplays = openReplays(sentLanes(ownConfig, replays, pigeonholes));
  const operations = { observed: own(observed, workspace), approvals, replays: sentReplays };
  const view = await viewStatus({
    config: ownConfig,
    configuration,
    trouble: trouble(),
    status,
    freshness,
    upMs: upMs?.(),
    hindrances,
    pauses,
    sinks: await configuredSinks(ledger, { config: ownConfig, configuration, workspace }, status.outcomes, operations),
    quotas,
  });
  const folders = unreadableFolders?.() ?? [];
  const exports = own(facts.exports, workspace);
  const file = unusableFile?.() ?? null;
  const problems = viewProblems(
    { ...view, lanes, folders, exports, file, now },
    {
      behindMs: behindMsOf(config),
    },
  );
  return {
    status: { ...view, problems },
    lanes,
    places: pigeonholes,
    sweeps: own(sweeps, workspace),
    folders,
    exports,
    file,
    now,
  };
}

/** A sink without the state of its lanes. */
type ConfiguredSink = OperatedSink & Pick<SinkView, 'name' | 'type' | 'withholding'>;

async function configuredSinks(
  ledger: Ledger,
  {
    config,
    configuration,
    workspace,
  }: { readonly config: Config; readonly configuration: number; readonly workspace: string | null },
  outcomes: readonly SinkOutcome[],
  operations: SinkOperations,
): Promise<ConfiguredSink[]> {
  const found = await findWithholding(ledger, config, outcomes, workspace);
  return await Promise.all(
    Object.entries(config.sinks).map(async ([name, { type, mode }]) => {
      const sink = operatedSink(name, mode, operations);
      // The counts of an earlier configuration say nothing about this one.
      const isCurrent = operations.observed.every((lane) => lane.sink !== name || lane.configuration === configuration);
      const observed =
        isObserving(sink) && isCurrent ? await findObservedWithholding(ledger, config, name, sink.observation) : [];
      return { name, type, ...sink, withholding: observed.length > 0 ? observed : (found.get(name) ?? []) };
    }),
  );
}

export function own<Row extends { readonly workspace: string }>(
  rows: readonly Row[],
  workspace: string | null,
): readonly Row[] {
  return workspace === null ? rows : rows.filter((row) => row.workspace === workspace);
}

interface StatusFacts {
  readonly config: Config;
  readonly configuration: number;
  readonly trouble: string | null;
  /** The configured workspaces, pigeonholes and lanes. */
  readonly status: LedgerStatus;
  readonly freshness: AllFreshness;
  readonly upMs?: number | undefined;
  readonly hindrances?: HindranceMemory | undefined;
  readonly pauses: readonly Pause[];
  readonly sinks: readonly ConfiguredSink[];
  /** By workspace. */
  readonly quotas: ReadonlyMap<string, QuotaView>;
}

/** Divided into slices, because there may be thousands of pigeonholes. Its only side effect is on `hindrances`. */
export async function viewStatus(facts: StatusFacts): Promise<Omit<Status, 'problems'>> {
  const { config, configuration, trouble, status } = facts;
  const slices = new WorkSlices();
  const rows = groupBy(status.pigeonholes, (pigeonhole) => pigeonhole.workspace);
  const workspaces: WorkspaceView[] = [];
  for (const name of Object.keys(config.workspaces)) {
    workspaces.push(await workspaceView(name, rows.get(name) ?? [], facts, slices));
  }
  const sinks = facts.sinks.map((sink) => sinkView(sink, facts));
  const settled = trouble === null && isSettled(config, status, { workspaces, sinks });
  return { configuration, trouble, settled, workspaces, sinks };
}

function pauseOf(pauses: readonly Pause[], scope: Pause['scope'], name: string): PauseView | null {
  const pause = pauses.find((each) => each.scope === scope && each.name === name);
  return pause === undefined ? null : viewPause(pause);
}

async function workspaceView(
  name: string,
  rows: readonly PigeonholeStatus[],
  facts: StatusFacts,
  slices: WorkSlices,
): Promise<WorkspaceView> {
  const { status, pauses, quotas, freshness } = facts;
  const row = status.workspaces.find((workspace) => workspace.name === name);
  const pause = pauseOf(pauses, 'workspace', name);
  const waitReason = row?.waitReason ?? null;
  const waitingLists = rows.reduce((sum, { waiting }) => sum + waiting, 0);
  const unanswered =
    row?.unansweredSince == null
      ? null
      : { since: row.unansweredSince.toISOString(), reason: row.unansweredReason ?? 'the service does not answer' };
  const hold = {
    words: hindranceWords({ name, pause, unanswered }, waitReason),
    wait: row === undefined ? null : readingWait(row, freshness.at),
    isPaused: pause !== null,
    since: [pause?.since, unanswered?.since],
  };
  const pigeonholes: PigeonholeView[] = [];
  for (const pigeonhole of rows) {
    pigeonholes.push(pigeonholeView(pigeonhole, facts, hold));
    await slices.pause();
  }
  const failing = pigeonholes.find(({ state }) => state === 'failing');
  return {
    name,
    state:
      pause !== null
        ? 'paused'
        : waitReason !== null || unanswered !== null
          ? 'waiting'
          : failing !== undefined
            ? 'failing'
            : pigeonholes.some(({ state }) => state === 'backfilling')
              ? 'backfilling'
              : 'working',
    reason:
      pause?.reason ??
      waitReason ??
      (unanswered === null ? failing?.reason : serviceDownTitle(name, unanswered.since, waitingLists)) ??
      null,
    until: row?.waitUntil?.toISOString() ?? null,
    pause,
    unanswered,
    waitingLists,
    quota: quotas.get(name) ?? null,
    pigeonholes,
  };
}

/** Facts about a workspace that affect the reading of its pigeonholes. */
interface WorkspaceHold {
  /** Why nothing of the workspace can be read; null: it can be read. */
  readonly words: string | null;
  /** Until when the workspace waits for the service or the quota; null: it does not. */
  readonly wait: ReadingWait | null;
  readonly isPaused: boolean;
  /** The instants at which it was paused and stopped answering. */
  readonly since: readonly (string | undefined)[];
}

function pigeonholeView(
  row: PigeonholeStatus,
  { config, freshness: { at, byPlace }, upMs, hindrances: memory, pauses }: StatusFacts,
  workspace: WorkspaceHold,
): PigeonholeView {
  const name = placeName(row);
  const { rehearsalSince, rehearsalUntil, rehearsalBy } = row;
  const { groups, maybeLate } = byPlace.get(name) ?? { groups: [], maybeLate: [] };
  // A workspace that no sync uses is not read, so its lists are not late.
  const isRead = Object.values(config.syncs).some((sync) => sync.workspace === row.workspace);
  const pause = pauseOf(pauses, 'pigeonhole', name);
  const paused = workspace.isPaused || pause !== null;
  const since = [...workspace.since, pause?.since].flatMap((each) => each ?? []).toSorted()[0];
  const sinceMs = since === undefined ? at.getTime() : Date.parse(since);
  const hinderedMs = paused || workspace.words !== null ? Math.max(0, at.getTime() - sinceMs) : null;
  const freshness = judgeFreshness(
    { groups, maybeLate: isRead ? maybeLate : [] },
    { paused, waits: workspace.wait, now: at, upMs, hindrances: memory?.note(name, hinderedMs) },
  );
  const waits = row.goneAt === null ? workspace.words : null;
  return {
    id: row.pigeonholeId,
    name: row.name,
    status: row.status,
    state:
      pause !== null
        ? 'paused'
        : waits !== null
          ? 'waiting'
          : row.failing > 0
            ? 'failing'
            : row.backfilling > 0
              ? 'backfilling'
              : 'working',
    reason: pause?.reason ?? waits ?? row.failure,
    pause,
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
    strangerRows: row.strangerRows,
    heldDeletions: row.heldDeletions,
    goneAt: row.goneAt?.toISOString() ?? null,
  };
}

function sinkView(sink: ConfiguredSink, { status, pauses }: StatusFacts): SinkView {
  const lanes = status.lanes.filter((lane) => lane.sink === sink.name);
  const totals = status.sinks.filter((total) => total.sink === sink.name);
  const outcomes = status.outcomes.filter((outcome) => outcome.sink === sink.name);
  const pause = pauseOf(pauses, 'sink', sink.name);
  // The failed change may have been superseded or withheld since. Then no change is left, and the failure is over.
  const failing = lanes.find(({ failure, behind, open }) => failure !== null && behind + open > 0);
  const latest = Math.max(...totals.map(({ deliveredAt }) => deliveredAt?.getTime() ?? 0), 0);
  return {
    ...sink,
    state: pause ? 'paused' : failing ? 'failing' : 'working',
    reason: pause?.reason ?? failing?.failure ?? null,
    pause,
    delivered: totals.reduce((sum, total) => sum + total.delivered, 0),
    backlog: isObserving(sink)
      ? sink.observation.behind
      : lanes.reduce((sum, lane) => sum + lane.behind + lane.open, 0),
    withheld: byReason(outcomes, 'withheld'),
    dead: byReason(outcomes, 'dead'),
    deliveredAt: latest === 0 ? null : new Date(latest).toISOString(),
    parity: parityOf(status.parities.filter((each) => each.sink === sink.name)),
  };
}

/** Adds up the audits of a sink; null: it was not audited yet. Pure. */
function parityOf(parities: readonly SinkParity[]): SinkView['parity'] {
  if (parities.length === 0) return null;
  const ends = parities.flatMap(({ auditedAt }) => (auditedAt === null ? [] : [auditedAt.getTime()]));
  const sum = (pick: (parity: SinkParity) => number): number =>
    parities.reduce((total, parity) => total + pick(parity), 0);
  return {
    auditedAt: ends.length < parities.length ? null : new Date(Math.min(...ends)).toISOString(),
    compared: sum(({ compared }) => compared),
    stale: sum(({ stale }) => stale),
    explained: sum(({ explained }) => explained),
    changed: sum(({ changed }) => changed),
    missing: sum(({ missing }) => missing),
    extra: sum(({ extra }) => extra),
    unreadable: sum(({ unreadable }) => unreadable),
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
  const haveLanes = [...used].every((sink) => {
    const lanes = status.sinks.reduce((sum, total) => sum + (total.sink === sink ? total.lanes : 0), 0);
    return lanes >= changed.filter((place) => isSentTo(config, sink, place)).length;
  });
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

/** Returns the reason why a pigeonhole waits although nothing is wrong with the pigeonhole itself; null: it does not. Pure. */
function hindranceWords(
  { name, pause, unanswered }: Pick<WorkspaceView, 'name' | 'pause' | 'unanswered'>,
  waits: string | null,
): string | null {
  if (pause?.pausedBy === 'person') return `workspace ${name} is paused`;
  if (pause?.cause === 'credential' || waits === 'credential') {
    return `waits for the key of workspace ${name}, which the service refuses`;
  }
  if (pause !== null) return `workspace ${name} is paused`;
  if (unanswered !== null) return 'waits for the service, which does not answer';
  if (waits === 'quota') return `waits for the request quota of workspace ${name}`;
  return waits === null ? null : 'waits because the service requested a pause';
}
