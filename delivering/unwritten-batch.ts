import type { BatchInFlight } from '../ledger/lanes.js';
import type { FirstDelivery, Settled } from '../ledger/deliveries.js';
import type { FoundChanges } from './candidates.js';
import { type Decided, toDecidedRow } from './delivery-states.js';

/**
 * Returns true if the deliveries of a batch can be written together with their outcomes: the sink receives every
 * revision, neither the lane nor the sink fails, all changes are new, none waits, and at least one is sent. Removals
 * are always written as deliveries first, because an erasure ends when those rows are settled.
 */
export function isWrittenLater(
  request: { readonly onlyLatest: boolean; readonly untriedFirst: boolean },
  fresh: FoundChanges,
  decided: readonly Decided[],
): boolean {
  return (
    !request.onlyLatest &&
    !request.untriedFirst &&
    fresh.rows.every(({ blocked }) => !blocked) &&
    decided.every(({ candidate }) => candidate.kind !== 'deleted' && candidate.erased === null) &&
    decided.some(({ decision }) => decision.kind === 'send')
  );
}

export function toBatchInFlight(
  configuration: number,
  fresh: FoundChanges,
  decided: readonly Decided[],
): BatchInFlight {
  const rows = decided.map((each) => {
    return { ...toDecidedRow(each), attempts: each.candidate.attempts, retryInMs: null };
  });
  return {
    configuration,
    reached: fresh.reached,
    sent: rows.filter(({ state }) => state === 'sending'),
    others: rows.filter(({ state }) => state !== 'sending'),
  };
}

/** Returns the deliveries of a batch with their outcomes, by sequence. */
export function firstDeliveries({ sent, others }: BatchInFlight, settled: readonly Settled[]): FirstDelivery[] {
  const outcomes = new Map(settled.map((each) => [each.sequence, each]));
  const settledNow = sent.map(({ sequence, list, key, revision, identity }) => {
    const { state, reason, detail, attempts, retryInMs } = outcomes.get(sequence)!;
    return { sequence, list, key, revision, identity, state, reason, detail, attempts, retryInMs };
  });
  return others.length === 0 ? settledNow : [...settledNow, ...others].toSorted((a, b) => a.sequence - b.sequence);
}
