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
