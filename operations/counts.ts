import type { LaneOutcomeCount } from './status.js';

/**
 * How pigeonpost counts what a sink was sent. The page, `status`, the API, the metrics and `why` show these numbers
 * (docs/operations.md, "What is counted"); the ledger keeps them with each delivery (decision 0061).
 *
 * - *delivered* counts deliveries that the destination accepted, those of replays included. It never falls.
 * - *withheld* counts changes that the sink was not sent on purpose and that nothing has delivered since: a replay that
 *   delivers a withheld change takes it out, and so does a later revision where a sink keeps only the latest one.
 * - *dead* counts deliveries that the destination refused and that are parked.
 */
export type OutcomeCount = LaneOutcomeCount;

/** Returns the counts of one state by reason, most first. */
export function byReason(
  counts: readonly OutcomeCount[],
  state: OutcomeCount['state'],
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const each of counts) {
    if (each.state === state) sums.set(each.reason, (sums.get(each.reason) ?? 0) + each.changes);
  }
  return Object.fromEntries([...sums].toSorted(([, one], [, other]) => other - one));
}

/** Returns the sum of counts by reason. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}
