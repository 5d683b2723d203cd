import { outcomeUnknown } from '../ledger/dead-letters.js';
import type { Planned, Sink, Subject } from '../sinks/sink.js';
import { type HeldLane, sendPlanned, type Settlement, type Settlements } from './plan-and-send.js';

/**
 * What became of changes that an earlier attempt may have sent. One of which the present plan makes nothing (its
 * mapping or what stands around it has changed since) may stand at the destination all the same: the sink's `trace` is
 * looked for before the change is dropped, and what is found is planned anew, as something that stands there.
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

/** None where the sink has no traces: then a repeat is harmless, or the sink finds what it has made by other means. */
async function tracesOf(sink: Sink, subjects: readonly Subject[]): Promise<Planned[]> {
  if (sink.traits.repeats !== 'lookUp' || sink.trace === undefined || subjects.length === 0) return [];
  return [...(await sink.trace(subjects))];
}

/** Nothing of it stands there: as planned. Pure. */
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
