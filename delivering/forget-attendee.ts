import { counted } from '../base/words.js';
import { eraseReasons, eraseFromItems, clearLedger } from '../people/erase-from-ledger.js';
import {
  type Erasure,
  awaitPages,
  readErasure,
  receiptsOf,
  type Receipt,
  erasedOfLane,
  type ErasingLane,
  erasingLanes,
} from '../people/erasures.js';
import { endErasure, keepReceipts } from '../people/erasure-states.js';
import { settleErasingLane } from '../people/held-items.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import type { ErasureResult } from '../cycles/cycle-results.js';
import { type LaneLease, handOverLane, releaseLane, rememberOnLane } from '../ledger/lanes-leased.js';
import { reasonOf } from '../sinks/all-reasons.js';
import { allSinks } from '../sinks/all-sinks.js';
import type { EraseResult, Lane } from '../sinks/sink.js';
import { whileHeld } from '../base/lease.js';
import { LaneHold } from './lane-hold.js';
import { replayReasons } from './replays.js';
import { isApproved } from '../ledger/approvals.js';
import { pausesOf } from '../ledger/pauses.js';
import { selectedPigeonhole } from '../ledger/pigeonholes.js';
import { plannedLanes, syncsTo } from './lane-plans.js';

/** Wait between cycles while something changes: a healthy sink answers within seconds. */
const soonMs = 1000;
/** Longest wait between cycles: a sink can stay paused for days. */
const longestSleepMs = 60_000;

/**
 * Runs one cycle of an erasure. Erases the person from the ledger first (items, earlier revisions, reasons that sinks
 * returned, registrants, imports). That step also adds a removal for every sink that received some of this data, and
 * the sinks' own workflows deliver the removals. Then erases the person from the files that sinks keep. Each place gets
 * a receipt. Safe to repeat, also after a crash: each step finds what is left. The deletion limits do not apply,
 * because an operator requested the erasure.
 */
export async function forgetAttendee(deps: Collaborators, id: string, signal: AbortSignal): Promise<ErasureResult> {
  await requireCurrentConfiguration(deps);
  const erasure = await readErasure(deps.ledger, id);
  if (erasure === undefined || erasure.endedAt !== null) {
    return { items: 0, open: 0, nextDueInMs: 0, state: 'finished' };
  }
  // Runs before the items are erased, because the names to search for in operators' texts come from the person's
  // records.
  if (erasure.names !== null) await eraseReasons(deps.ledger, erasure.names, [replayReasons]);
  let items = erasure.names === null ? 0 : await eraseFromItems(deps, erasure);
  const own = await clearLedger(deps, erasure);
  const sinks = await eraseFromSinks(deps, erasure, signal);
  await keepReceipts(deps.ledger.db, erasure.number, sinks);
  const receipts = [...own, ...sinks];
  const open = receipts.filter(({ outcome }) => outcome === 'waiting').length;
  // A page that was being read when the erasure was requested may have stored items since. Searching for them reads all
  // items, so the search waits until no place is open.
  if (open === 0) await awaitPages(deps.ledger, erasure.number);
  const late = open > 0 ? 0 : await eraseFromItems(deps, erasure);
  items += late;
  if (open + late > 0) {
    return { items, open, nextDueInMs: await sleepMs(deps, erasure), state: 'working' };
  }
  await endErasure(deps.ledger, erasure.number);
  // Read again: the ledger's own receipts may be from an earlier cycle.
  const places = await receiptsOf(deps.ledger, erasure.number);
  deps.log.info({ erasure: id, places: places.length }, 'erased a person everywhere');
  return { items, open, nextDueInMs: 0, state: 'finished' };
}

/**
 * Returns the wait before the next cycle. It is short if a receipt changed within the last minute, because a sink that
 * is resumed after days answers within seconds.
 */
async function sleepMs({ ledger }: Collaborators, { number, requestedAt }: Erasure): Promise<number> {
  const moved = (await receiptsOf(ledger, number)).map(({ at }) => at.getTime());
  const unchangedForMs = ledger.clock.nowMs() - Math.max(requestedAt.getTime(), ...moved);
  return unchangedForMs < longestSleepMs ? soonMs : longestSleepMs;
}

/**
 * Removes a person from the files that a sink keeps. Holds the lane's lease, so that no delivery appends to the files
 * meanwhile. If the previous holder left an unsettled batch, the next delivery cycle has to settle it first, and the
 * receipt stays `waiting`.
 * @param verdict the receipt as judged from the lane's deliveries
 */
async function eraseFromLane(
  deps: Collaborators,
  lane: ErasingLane,
  verdict: Receipt,
  signal: AbortSignal,
): Promise<Receipt> {
  const sink = deps.sinks.get(lane.sink)!;
  const waiting: Receipt = { ...verdict, outcome: 'waiting', detail: 'lane is in use', todo: null };
  const { sinkId, pigeonholeNumber } = lane;
  const hold = await LaneHold.take(deps.ledger, { sinkId, pigeonholeNumber, owner: deps.owner }, deps.clocks);
  if (hold === undefined) return waiting;
  const { lease } = hold;
  try {
    if (lease.takenOver) {
      await handOverLane(deps.ledger, lease, 0);
      await deps.orchestration.wakeSinks([lane.sink]);
      return waiting;
    }
    const ends = AbortSignal.any([signal, hold.signal]);
    const result = await whileHeld(hold.confirm, () => eraseHeld(deps, lane, lease, ends));
    await releaseLane(deps.ledger, lease, sink.sink.traits.order);
    if (result.kind !== 'erased') return { ...waiting, detail: result.kind, todo: result.detail };
    if (result.missing > 0) {
      const todo = `${counted(result.missing, 'file')} of sink ${lane.sink} moved since it wrote them: remove the person from each file where it is now`;
      return { ...verdict, count: result.count, outcome: 'by-hand', detail: 'files-moved', todo };
    }
    return { ...verdict, count: result.count };
  } finally {
    hold.end();
  }
}

async function eraseHeld(
  { ledger, sinks }: Collaborators,
  { sink: name, workspace, pigeonholeId }: ErasingLane,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<EraseResult> {
  let memory = lease.memory;
  const lane: Lane = {
    workspace,
    pigeonholeId,
    ledgerId: ledger.id,
    get memory() {
      return memory;
    },
    async remember(more) {
      const all = { ...memory, ...more };
      await rememberOnLane(ledger, lease, all);
      memory = all;
    },
  };
  return await sinks.get(name)!.sink.erase!(await erasedOfLane(ledger, lease), lane, signal);
}

interface LaneConditions {
  /** True if at least one sync still delivers this pigeonhole to the sink. */
  readonly served: boolean;
  /** A sentence that tells the operator why the sink sends nothing now; null if it does send. */
  readonly stopped: string | null;
  /** True if the destination passes changes on, so that the sink cannot remove the data from the receivers itself. */
  readonly forwards: boolean;
}

/**
 * Judges the progress of an erasure at one sink and pigeonhole. Pure. Open removals keep it `waiting` as long as the
 * sink is in use, even if the sink sends nothing now; the receipt shows the reason.
 */
export function judgeErasingLane(lane: ErasingLane, { served, stopped, forwards }: LaneConditions): Receipt {
  const place = `sink:${lane.sink} ${lane.workspace}/${lane.pigeonholeId}`;
  const facts = { place, count: lane.items };
  if (lane.open > 0 && (lane.archived || !served)) {
    const todo = `sink ${lane.sink} no longer receives this pigeonhole: remove the person there by hand`;
    return { ...facts, outcome: 'by-hand', detail: 'not-served', todo };
  }
  if (lane.open > 0) return { ...facts, outcome: 'waiting', detail: `${lane.open} open`, todo: stopped };
  const left = lane.reasons.filter((reason) => reasonOf(reason)?.nothingLeft !== true);
  if (lane.dead > 0 || left.length > 0 || lane.skipped > 0) {
    const why = [...left, ...(lane.skipped > 0 ? ['list-not-wanted'] : [])].join(', ');
    const details = lane.details.length === 0 ? '' : ` (${lane.details.join('; ')})`;
    const helps = left.flatMap((reason) => reasonOf(reason)?.help ?? []).map((help) => `; ${help}`);
    const todo = `remove the person there by hand${details}${helps.join('')}`;
    return { ...facts, outcome: 'by-hand', detail: why, todo };
  }
  if (lane.delivered === 0) return { ...facts, outcome: 'nothing', detail: null, todo: null };
  if (forwards) {
    const todo = 'the receiver was notified that the items are deleted, and removes its own copies';
    return { ...facts, outcome: 'told', detail: null, todo };
  }
  return { ...facts, outcome: 'erased', detail: null, todo: null };
}

/**
 * Collects the receipts of all sinks. Once a sink has no open removal, also erases the person from the files that it
 * keeps.
 */
async function eraseFromSinks(deps: Collaborators, { number }: Erasure, signal: AbortSignal): Promise<Receipt[]> {
  const lanes = await erasingLanes(deps.ledger, number);
  const known = new Map((await receiptsOf(deps.ledger, number)).map((receipt) => [receipt.place, receipt]));
  const receipts: Receipt[] = [];
  for (const lane of lanes) {
    // One lane at a time, because erasing files takes the lane's lease.
    const verdict = judgeErasingLane(lane, await laneConditions(deps, lane));
    const before = known.get(verdict.place);
    const keepsFiles = deps.sinks.get(lane.sink)?.sink.erase !== undefined;
    if (verdict.outcome === 'waiting' || lane.open > 0) receipts.push(verdict);
    else if (before !== undefined && before.outcome !== 'waiting') receipts.push(before);
    else {
      const settled = keepsFiles ? await eraseFromLane(deps, lane, verdict, signal) : verdict;
      if (settled.outcome !== 'waiting') {
        const { sinkId, pigeonholeNumber } = lane;
        await settleErasingLane(deps.ledger.db, { sinkId, pigeonholeNumber, erasure: number });
      }
      // The receipt is stored immediately, so that a repeat skips files from which the person is already erased.
      await keepReceipts(deps.ledger.db, number, [settled]);
      receipts.push(settled);
    }
  }
  return receipts;
}

async function laneConditions(
  { ledger, config, sinks }: Collaborators,
  { sink: name, type, ...place }: ErasingLane,
): Promise<LaneConditions> {
  const sink = sinks.get(name);
  const forwards = allSinks.get(type)?.forwards?.(config.sinks[name]?.settings) === true;
  if (sink === undefined) return { served: false, stopped: null, forwards };
  const selected = await selectedPigeonhole(ledger, syncsTo(config, name), place);
  const served = plannedLanes(config, name, selected === undefined ? [] : [selected]).some(
    ({ workspace, pigeonholeId }) => workspace === place.workspace && pigeonholeId === place.pigeonholeId,
  );
  const [pause] = await pausesOf(ledger, [{ scope: 'sink', name }]);
  if (pause !== undefined) {
    return { served, stopped: `sink ${name} is paused: resume it to have the person removed`, forwards };
  }
  const observes = sink.observing && !(await isApproved(ledger, sink.id, sink.destination));
  const stopped = observes ? `sink ${name} only observes: approve it to have the person removed` : null;
  return { served, stopped, forwards };
}
