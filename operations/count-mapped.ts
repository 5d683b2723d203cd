import type { Config } from '../config/config.js';
import { expressionsIn } from '../sinks/mapping/expression-schema.js';
import {
  addCounts,
  countDeliverable,
  type DeliverableCount,
  type ItemsAsked,
  type PlanningLane,
  SharedTallies,
  type Tally,
} from './count-deliverable.js';
import type { SeenByList } from './field-notes.js';
import { judgeWithholding, type ListOutcomes, withheldByCondition, withholdingSentence } from './withholding.js';

/** Results for the stored items of one list: what the decision and then the mapping withhold. */
export interface MappedCount extends DeliverableCount {
  /** Items that become dead letters because the mapping fails. */
  readonly failed: number;
  /** Only the newest of a large number were planned; the counts of the others are an estimate. */
  readonly estimated: boolean;
}

/** Limits planning to a few seconds, for each list of a lane and for all lists together. The rest is estimated. */
export function startTallies(): SharedTallies {
  return new SharedTallies({ items: 1000, ms: 500 }, 4000);
}

/** Counts the results for the stored items of a lane: the decision in SQL, and the mapping by planning. */
export async function countMapped(
  planning: PlanningLane,
  asked: ItemsAsked,
  tallies: SharedTallies,
): Promise<MappedCount[]> {
  const settings = planning.config.sinks[planning.sinkName]!;
  const counts = await countDeliverable(planning.ledger, settings, asked);
  const maps = expressionsIn(settings.settings).length > 0;
  const mapped: MappedCount[] = [];
  for (const count of counts) {
    if (!maps || count.items === 0) {
      mapped.push({ ...count, failed: 0, estimated: false });
      continue;
    }
    const { since, until, withoutRowOf } = asked;
    // One at a time, because each plans a whole list.
    const tally = await tallies.of(planning, { list: count.list, withheldFor: null, since, until, withoutRowOf });
    mapped.push(withMapping(count, tally));
  }
  return mapped;
}

/**
 * Applies the mapping's results to the counts of a list. If not every item was planned, the shares found for the newest
 * items are applied to all of them. Pure.
 */
function withMapping({ list, items, withheld }: DeliverableCount, tally: Tally): MappedCount {
  const share = (n: number): number => (tally.given === 0 ? 0 : Math.round((items * n) / tally.given));
  const count = tally.complete ? (n: number): number => n : share;
  const byMapping = Object.fromEntries(Object.entries(tally.withheld).map(([reason, n]) => [reason, count(n)]));
  const all = addCounts({ ...withheld }, byMapping);
  return { list, items: count(tally.sent), withheld: all, failed: count(tally.failed), estimated: !tally.complete };
}

/** Adds up the counts of all pigeonholes, by list. Pure. */
export function sumMapped(counts: readonly MappedCount[]): MappedCount[] {
  const sums = new Map<string, Mutable<MappedCount> & { withheld: Record<string, number> }>();
  for (const { list, items, withheld, failed, estimated } of counts) {
    const sum = sums.get(list) ?? { list, items: 0, withheld: {}, failed: 0, estimated: false };
    sum.items += items;
    sum.failed += failed;
    sum.estimated ||= estimated;
    addCounts(sum.withheld, withheld);
    sums.set(list, sum);
  }
  return [...sums.values()];
}

type Mutable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

/** Returns the sentence that the status will show about a list, or null if the mapping seems to be as intended. */
export function mappingProblem(
  { list, items, failed, withheld, estimated }: MappedCount,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  seen: SeenByList,
): string | null {
  const outcomes: ListOutcomes = {
    list,
    counts: [
      { state: 'delivered', reason: '', changes: items + failed },
      ...Object.entries(withheld).map(([reason, changes]) => ({ state: 'withheld' as const, reason, changes })),
    ],
    recent: [],
  };
  const withholding = judgeWithholding(outcomes) ?? withheldByCondition(outcomes);
  const text = withholding === null ? null : withholdingSentence(config, sink, withholding, seen);
  return text !== null && estimated ? `${text} (estimated from the newest items)` : text;
}
