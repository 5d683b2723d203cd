import { laneWork, type LaneWork } from '../ledger/queries/lanes.js';
import { pausesOf } from '../ledger/queries/pauses.js';
import { refOf, type Selected, selectedPigeonholes } from '../ledger/queries/pigeonholes.js';
import { releaseSelected } from '../ledger/queries/release-selected.js';
import { lowerWakeFlag } from '../ledger/queries/sinks.js';
import { type ListName, pigeonholeLists, workspaceLists } from '../pigeonhole/lists.js';
import type { Collaborators, OpenSink } from './collaborators.js';
import { deliverLane, type LanePlan } from './deliver-lane.js';
import { sinksWanting } from './reading-plan.js';
import { requireCurrentConfiguration } from './require-current-configuration.js';
import type { DeliveryTurn } from './turns.js';

/** Pigeonholes that a sink is sent to at once: one slow lane leaves room for the others. */
const lanesAtOnce = 4;
/** A turn ends after this time at the latest, so that every lane gets its share. */
const turnMs = 10_000;
/** Covers a lost signal. */
const longestSleepMs = 30_000;

const idle = { delivered: 0, withheld: 0, failed: 0 };

/** One turn of a sink: what its lanes hold is sent, longest waiting first. Safe to run twice, also at once. */
export async function deliverToSinkTurn(
  to: Collaborators,
  sinkName: string,
  signal: AbortSignal,
): Promise<DeliveryTurn> {
  await requireCurrentConfiguration(to);
  const sink = to.sinks.get(sinkName);
  if (sink === undefined) return { ...idle, nextDueInMs: 0, state: 'finished' };
  await lowerWakeFlag(to.ledger, sink.id);
  const [pause] = await pausesOf(to.ledger, [{ scope: 'sink', name: sinkName }]);
  if (pause !== undefined) {
    return { ...idle, nextDueInMs: longestSleepMs, state: 'paused', reason: pause.cause };
  }
  const plans = await lanePlans(to, sink);
  const until = Date.now() + turnMs;
  const turn = { ...idle };
  let paused = false;
  const lanes = { sinkId: sink.id, refs: [...plans.keys()], configuration: to.configuration };
  const queue = (await laneWork(to.ledger, lanes)).filter(isDue);
  const work = async (): Promise<void> => {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
      if (Date.now() > until || paused || to.stopping.aborted || signal.aborted) return;
      const done = await deliverLane(to, plans.get(lane.ref)!, lane, until, signal);
      turn.delivered += done.delivered;
      turn.withheld += done.withheld;
      turn.failed += done.failed;
      paused ||= done.paused;
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanesAtOnce, queue.length) }, work));
  const left = await laneWork(to.ledger, lanes);
  const nextDueInMs = Math.min(longestSleepMs, ...left.map(({ dueInMs }) => Math.max(0, dueInMs ?? longestSleepMs)));
  return { ...turn, nextDueInMs: Math.ceil(nextDueInMs), state: 'working' };
}

function isDue({ dueInMs }: LaneWork): boolean {
  return dueInMs !== null && dueInMs <= 0;
}

/** The sink's lanes by pigeonhole: those its syncs selected, and the own lists of their workspaces. */
async function lanePlans(to: Collaborators, sink: OpenSink): Promise<Map<number, LanePlan>> {
  const syncs = Object.keys(to.config.syncs).filter((name) => to.config.syncs[name]!.sinks.includes(sink.name));
  const selected = await selectedPigeonholes(to.ledger, syncs);
  const plans = new Map<number, LanePlan>();
  const plan = (ref: number, names: readonly string[], lists: readonly ListName[], keys: readonly Selected[]): void => {
    const wanted = lists.filter((list) =>
      names.some((name) => sinksWanting(to.config, name, list).includes(sink.name)),
    );
    plans.set(ref, { sink, lists: wanted, selected: new Set(keys.map(({ pigeonholeId }) => String(pigeonholeId))) });
  };
  for (const row of selected) plan(row.ref, row.syncs, pigeonholeLists, []);
  for (const workspace of new Set(syncs.map((name) => to.config.syncs[name]!.workspace))) {
    const names = syncs.filter((name) => to.config.syncs[name]!.workspace === workspace);
    const ref = await refOf(to.ledger, workspace, 0);
    const own = selected.filter((row) => row.workspace === workspace);
    plan(ref, names, workspaceLists, own);
    const keys = own.map(({ pigeonholeId }) => String(pigeonholeId));
    await releaseSelected(to.ledger, { sinkId: sink.id, workspaceRef: ref, selected: keys });
  }
  return plans;
}
