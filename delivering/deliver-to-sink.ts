import { StoreError } from '../ledger/drivers/store-error.js';
import { isApproved } from '../ledger/approvals.js';
import { saveSinkHealth } from '../ledger/sinks.js';
import { laneWork, type LaneWork } from '../ledger/lanes.js';
import { pauseOfSink } from '../ledger/pauses.js';
import { pigeonholeNumberOf, selectedPigeonholes } from '../ledger/pigeonholes.js';
import { releaseSelected } from './adopt-configuration.js';
import { openBreaker } from './sink-breaker.js';
import type { Collaborators, OpenSink } from '../cycles/collaborators.js';
import { deliverLane, type LaneSettings, type LaneResult } from './deliver-lane.js';
import { plannedLanes, syncsTo } from './lane-plans.js';
import { strictest } from '../config/syncs.js';
import { observeLanes } from './observe-lanes.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import type { DeliveryResult } from '../cycles/cycle-results.js';
import { LedgerError } from '../ledger/ledger-error.js';

/** Maximum length of a cycle, so that every lane gets its share. */
const cycleMs = 10_000;
/** Maximum time between two cycles, in case a wake signal is lost. */
const maxSleepMs = 30_000;

const idle = { delivered: 0, withheld: 0, failed: 0 };

/**
 * Runs one delivery cycle of a sink: sends the changes in its lanes, the least recently tried lane first. A sink in
 * observe mode that is not approved only counts what it would send. Safe to run twice, even concurrently.
 */
export async function deliverToSink(
  deps: Collaborators,
  sinkName: string,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  await requireCurrentConfiguration(deps);
  const sink = deps.sinks.get(sinkName);
  if (sink === undefined) return { ...idle, nextDueInMs: 0, state: 'finished' };
  const pause = await pauseOfSink(deps.ledger, sink);
  if (pause !== undefined) {
    return { ...idle, nextDueInMs: maxSleepMs, state: 'paused', reason: pause.cause };
  }
  const lanesByPigeonhole = await laneSettings(deps, sink);
  const until = performance.now() + cycleMs;
  if (sink.observing && !(await isApproved(deps.ledger, sink.id, sink.destination))) {
    const done = await observeLanes(
      deps,
      lanesByPigeonhole,
      () => performance.now() < until && !deps.stopping.aborted && !signal.aborted,
    );
    return { ...idle, nextDueInMs: done ? maxSleepMs : 0, state: 'working', reason: 'observe' };
  }
  const breaker = await openBreaker(deps.ledger, sink);
  if (breaker.isOpen) {
    const nextDueInMs = Math.ceil(Math.min(maxSleepMs, breaker.waitMs));
    return { ...idle, nextDueInMs, state: 'working', reason: 'failing' };
  }
  const cycle = { ...idle };
  let paused = false;
  const { order } = sink.sink.traits;
  const lanes = {
    sinkId: sink.id,
    pigeonholeNumbers: [...lanesByPigeonhole.keys()],
    configuration: deps.configuration,
    order,
  };
  const queue = (await laneWork(deps.ledger, lanes)).filter(isDue);
  let storeFull: StoreError | undefined;
  const work = async (): Promise<void> => {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
      if (performance.now() > until || paused || breaker.isOpen || deps.stopping.aborted || signal.aborted) return;
      if (storeFull !== undefined) return; // do not send changes whose outcomes cannot be stored
      const settings = lanesByPigeonhole.get(lane.pigeonholeNumber)!;
      const done = await deliverLane(deps, settings, lane, { breaker, until, signal }).catch((error: unknown) => {
        if (error instanceof StoreError && error.kind === 'full') storeFull ??= error;
        return failedLane(deps, sink, lane, error);
      });
      cycle.delivered += done.delivered;
      cycle.withheld += done.withheld;
      cycle.failed += done.notDelivered;
      paused ||= done.paused;
    }
  };
  await Promise.all(Array.from({ length: Math.min(breaker.lanesAtOnce, queue.length) }, work));
  // On a full disk, reads still work, so the rest of this cycle might not report the failure.
  if (storeFull !== undefined) throw storeFull;
  const { verdict } = breaker;
  if (verdict !== undefined) await saveSinkHealth(deps.ledger, sink.id, verdict);
  const left = await laneWork(deps.ledger, lanes);
  const nextDueInMs = Math.min(maxSleepMs, ...left.map(({ dueInMs }) => Math.max(0, dueInMs ?? maxSleepMs)));
  return { ...cycle, nextDueInMs: Math.ceil(nextDueInMs), state: 'working' };
}

/**
 * Logs a lane whose delivery threw an error. The cause is a bug, or another worker that took the lane over, or the
 * store. The lane stays leased until the lease expires; the other lanes continue. If the store does not answer, the
 * next statement of the cycle fails too and ends the cycle.
 */
function failedLane(
  deps: Collaborators,
  sink: OpenSink,
  { workspace, pigeonholeId }: LaneWork,
  error: unknown,
): LaneResult {
  const line = { sink: sink.name, workspace, pigeonhole: pigeonholeId, error: nameOfError(error) };
  deps.log.error(line, 'delivery of a lane failed');
  return { delivered: 0, withheld: 0, notDelivered: 0, paused: false };
}

function isDue({ dueInMs }: LaneWork): boolean {
  return dueInMs !== null && dueInMs <= 0;
}

/** Returns the sink's lanes by their pigeonhole's number in the ledger. */
async function laneSettings(deps: Collaborators, sink: OpenSink): Promise<Map<number, LaneSettings>> {
  const selected = await selectedPigeonholes(deps.ledger, syncsTo(deps.config, sink.name));
  const lanesByPigeonhole = new Map<number, LaneSettings>();
  const syncs = syncsTo(deps.config, sink.name).map((name) => deps.config.syncs[name]!.deletions);
  const withdrawals = strictest(syncs).holdAbove;
  for (const { workspace, pigeonholeId, lists, selected: keys } of plannedLanes(deps.config, sink.name, selected)) {
    const known = selected.find((row) => row.workspace === workspace && row.pigeonholeId === pigeonholeId);
    const pigeonholeNumber =
      known?.pigeonholeNumber ?? (await pigeonholeNumberOf(deps.ledger, workspace, pigeonholeId));
    lanesByPigeonhole.set(pigeonholeNumber, {
      sink,
      place: { workspace, pigeonholeId },
      lists,
      selected: new Set(keys),
      withdrawals,
    });
    if (pigeonholeId === 0)
      await releaseSelected(deps.ledger, { sinkId: sink.id, workspaceNumber: pigeonholeNumber, selected: keys });
  }
  return lanesByPigeonhole;
}

/** Returns the error's name and kind for a log line. Never its message, which may contain personal data. */
function nameOfError(error: unknown): string {
  if (error instanceof LedgerError || error instanceof StoreError) return `${error.name} ${error.kind}`;
  return error instanceof Error ? error.name : 'unknown';
}
