import type { Receipt } from '../people/forget/erasure.js';
import type { ErasingLane } from '../people/forget/erasing-lanes.js';

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
