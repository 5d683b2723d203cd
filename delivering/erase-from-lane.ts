import type { Receipt } from '../people/forget/erasure.js';
import { erasedOfLane, type ErasingLane } from '../people/forget/erasing-lanes.js';
import { type LaneLease, leaveLane, releaseLane, rememberOnLane } from '../ledger/lanes.js';
import type { EraseResult, Lane } from '../sinks/sink.js';
import { whileHeld } from '../sinks/while-held.js';
import type { Collaborators, OpenSink } from '../work/collaborators.js';
import { LaneHold } from './lane-hold.js';

/**
 * Has a sink that keeps files take a person out of them. Under the lane's lease, so that nothing is appended meanwhile; a
 * lane whose last holder ended in the middle is left to its successor, who settles that first.
 * @param verdict what was delivered there said
 */
export async function eraseFromLane(
  to: Collaborators,
  lane: ErasingLane,
  verdict: Receipt,
  signal: AbortSignal,
): Promise<Receipt> {
  const sink = to.sinks.get(lane.sink)!;
  const waiting: Receipt = { ...verdict, outcome: 'waiting', detail: 'lane is in use', todo: null };
  const { sinkId, ref } = lane;
  const hold = await LaneHold.take(to.ledger, { sinkId, ref, owner: to.owner }, to.clocks);
  if (hold === undefined) return waiting;
  const { lease } = hold;
  try {
    if (lease.takenOver) {
      await leaveLane(to.ledger, lease, 0);
      await to.orchestration.wakeSinks([lane.sink]);
      return waiting;
    }
    const ends = AbortSignal.any([signal, hold.signal]);
    const result = await whileHeld(hold.confirm, () => eraseHeld(to, sink, lane, lease, ends));
    await releaseLane(to.ledger, lease, sink.sink.traits.order);
    if (result.kind !== 'erased') return { ...waiting, detail: result.kind, todo: result.detail };
    if (result.missing > 0) {
      const todo = `${result.missing} files are not where sink ${lane.sink} wrote them: take the person out of them where they are now`;
      return { ...verdict, count: result.count, outcome: 'by-hand', detail: 'files-moved', todo };
    }
    return { ...verdict, count: result.count };
  } finally {
    hold.end();
  }
}

async function eraseHeld(
  { ledger }: Collaborators,
  { sink }: OpenSink,
  { workspace, pigeonholeId }: ErasingLane,
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
  return await sink.erase!(await erasedOfLane(ledger, lease), lane, signal);
}

/** Reasons for which a sink does nothing because nothing of the person is there. */
const nothingThere: ReadonlySet<string> = new Set([
  'erased',
  'never-sent',
  'nothing-made',
  'no-record',
  'no-table',
  'not-said',
  'no-actor',
]);

/** Sinks that pass on what they are told, and cannot take anything back themselves. */
const tellOthers: ReadonlySet<string> = new Set(['webhook']);

export interface LaneConditions {
  /** Some sync still gives the sink this pigeonhole. */
  readonly served: boolean;
  /** Why the sink sends nothing at present, as a sentence for a person; null: it sends. */
  readonly stopped: string | null;
}

/**
 * What has become of a person at a sink, in one pigeonhole. Pure. What is still to be sent is waited for as long as the
 * sink is in use, whatever its state: a person sees it in the receipt.
 */
export function judgeErasingLane(lane: ErasingLane, { served, stopped }: LaneConditions): Receipt {
  const place = `sink:${lane.sink} ${lane.workspace}/${lane.pigeonholeId}`;
  const facts = { place, count: lane.items };
  if (lane.open > 0 && (lane.archived || !served)) {
    const todo = `sink ${lane.sink} is sent nothing of this pigeonhole any more: remove the person there by hand`;
    return { ...facts, outcome: 'by-hand', detail: 'not-served', todo };
  }
  if (lane.open > 0) return { ...facts, outcome: 'waiting', detail: `${lane.open} open`, todo: stopped };
  const left = lane.reasons.filter((reason) => !saysNothingThere(reason));
  if (lane.dead > 0 || left.length > 0 || lane.passedBy > 0) {
    const why = [...left, ...(lane.passedBy > 0 ? ['list-not-wanted'] : [])].join(', ');
    const said = lane.details.length === 0 ? '' : ` (${lane.details.join('; ')})`;
    return { ...facts, outcome: 'by-hand', detail: why, todo: `remove the person there by hand${said}` };
  }
  if (lane.delivered === 0) return { ...facts, outcome: 'nothing', detail: null, todo: null };
  if (tellOthers.has(lane.type)) {
    const todo = 'who receives these was told that the items are deleted, and removes what it keeps itself';
    return { ...facts, outcome: 'told', detail: null, todo };
  }
  return { ...facts, outcome: 'erased', detail: null, todo: null };
}

/** Whether a sink that does nothing about a removal means that nothing is there, and not that something stays. Pure. */
export function saysNothingThere(reason: string): boolean {
  return nothingThere.has(reason) || isRemovalWord(reason);
}

/** A sink that has nothing standing there gives back why it was asked. */
function isRemovalWord(reason: string): boolean {
  return reason === 'deleted' || reason === 'consent-withdrawn' || reason === 'condition';
}
