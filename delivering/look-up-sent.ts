import { outcomeUnknown } from '../ledger/dead-letters.js';
import type { Planned, Sink, Subject } from '../sinks/sink.js';
import { type HeldLane, sendPlanned, type Settlement, type Settlements } from './plan-and-send.js';

/**
 * Finds out what happened to changes that an earlier attempt may have sent. If the mapping or related items have changed
 * since and the plan now sends nothing, the earlier attempt may still have created an object: the sink looks for it by
 * its `trace` plan before the change is dropped. If it finds the object, the change is planned again with that object.
 */
export async function lookUpSent(sink: Sink, subjects: readonly Subject[], held: HeldLane): Promise<Settlements> {
  const planned = await sink.plan(subjects);
  const isDropped = planned.map(({ kind }) => kind !== 'send');
  const traced = await tracesOf(
    sink,
    subjects.filter((_, index) => isDropped[index]),
  );
  const asked = planned.map((plan, index) => (isDropped[index] ? (traced.shift() ?? plan) : plan));
  const found = await sendPlanned(sink, asked, 'recover', held);
  return {
    ...found,
    settlements: found.settlements.map((each, index) => (isDropped[index] ? settleTrace(each, planned[index]!) : each)),
  };
}

/** Returns none if the sink has no `trace`: a repeat is harmless, or the sink finds its objects by other means. */
async function tracesOf(sink: Sink, subjects: readonly Subject[]): Promise<Planned[]> {
  if (sink.traits.repeats !== 'lookUp' || sink.trace === undefined || subjects.length === 0) return [];
  return [...(await sink.trace(subjects))];
}

/** Returns the present plan's settlement if the earlier attempt left nothing at the destination. Pure. */
function settleTrace(found: Settlement, planned: Planned): Settlement {
  if (planned.kind === 'send') return found;
  switch (found.kind) {
    case 'nothing':
      return planned;
    case 'unplannable':
      return found === planned ? planned : { kind: 'rejected', cause: outcomeUnknown, detail: found.detail };
    case 'unsent':
      return found.object === undefined ? planned : found;
    case 'delivered':
      return { kind: 'unsent', ...('object' in found && { object: found.object }) };
    default:
      return found;
  }
}
