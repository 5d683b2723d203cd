import { mappingReasons } from '../sinks/all-reasons.js';
import { knownLanes, type PlannedLane } from '../delivering/lane-plans.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { createSink } from '../delivering/open-sinks.js';
import { expressionsIn } from '../sinks/mapping/expression-schema.js';
import { sumOf } from '../base/words.js';
import type { WithheldItems } from './configuration-plan.js';
import { type SharedTallies, countLanes, type MappedCount, mappingProblem, startTallies } from './count-deliverable.js';
import { fieldsSeen } from './field-notes.js';
import { type Both, lanesOf } from './plan-deliveries.js';

/**
 * Keys that do not affect what a mapping withholds. If only these change, the two mappings are equal, and a difference
 * between their counts could only come from an estimate. No sink type accepts a key of its own with these names.
 */
const keysBesideMapping: ReadonlySet<string> = new Set(['mode', 'history', 'limits']);

/**
 * Returns the lists of which a new or changed mapping withholds everything by mistake, or more than the running one.
 * The mapping decides about every stored item as if the sink had not received it yet: a sink continues to update what
 * it received, so a mistake would otherwise show only when the next new items are withheld.
 */
export async function planWithholding(ledger: Ledger, both: Both): Promise<WithheldItems[]> {
  const { before, now, changedSinks } = both;
  const known = await knownLanes(ledger, Object.keys(now.sinks));
  const received = (sink: string, list: string): boolean =>
    known.some((lane) => lane.sink === sink && lane.lists.includes(list));
  const tallies = startTallies();
  const withholding: { sink: string; lanes: PlannedLane[]; counts: MappedCount[] }[] = [];
  for (const sink of Object.keys(now.sinks)) {
    const changedKeys = changedSinks.get(sink) ?? [];
    const isChanged =
      before.sinks[sink] === undefined || changedKeys.some((key) => !keysBesideMapping.has(key.split('.')[0]!));
    const lanes = lanesOf(now, sink, both.selectedNow).map((lane) => ({
      ...lane,
      lists: lane.lists.filter((list) => isChanged || !received(sink, list)),
    }));
    // One at a time, because each plans whole lists.
    const counts = await countAsNew(ledger, { config: now, sink, lanes, tallies });
    withholding.push({ sink, lanes, counts: counts.filter((count) => notSent(count) > 0) });
  }
  const talliesBefore = startTallies();
  const found: WithheldItems[] = [];
  for (const { sink, lanes, counts } of withholding) {
    if (counts.length === 0) continue;
    const compared = lanes.map((lane) => ({
      ...lane,
      lists: lane.lists.filter((list) => received(sink, list) && counts.some((count) => count.list === list)),
    }));
    const countsBefore =
      before.sinks[sink] === undefined
        ? []
        : await countAsNew(ledger, { config: before, sink, lanes: compared, tallies: talliesBefore });
    const problems = await problemsOf(ledger, now, sink, counts);
    const problemsBefore = await problemsOf(ledger, before, sink, countsBefore);
    found.push(
      ...counts.flatMap((count) => {
        const { list } = count;
        const text = problems.get(list) ?? null;
        // `status` already shows a problem that the plan does not change.
        const problem = text === problemsBefore.get(list) ? null : text;
        return withheldItems({ sink, count, last: countsBefore.find((one) => one.list === list), problem });
      }),
    );
  }
  return found;
}

/** Returns nothing if the mapping withholds no more than before and has no new problem. */
function withheldItems({
  sink,
  count,
  last,
  problem,
}: {
  readonly sink: string;
  readonly count: MappedCount;
  readonly last: MappedCount | undefined;
  readonly problem: string | null;
}): WithheldItems[] {
  if (problem === null && (last === undefined || notSent(count) <= notSent(last))) return [];
  const { list, items, failed, estimated } = count;
  const withheld = byMapping(count);
  const all = items + sumOf(withheld) + failed;
  const before = last === undefined ? null : notSent(last);
  return [{ sink, list, items: all, withheld, failed, before, problem, estimated }];
}

interface CountedSink {
  readonly config: Config;
  readonly sink: string;
  readonly lanes: readonly PlannedLane[];
  readonly tallies: SharedTallies;
}

/** Counts the results for all stored items of these lanes, as if the sink had received none. */
async function countAsNew(
  ledger: Ledger,
  { config, sink: sinkName, lanes, tallies }: CountedSink,
): Promise<MappedCount[]> {
  if (expressionsIn(config.sinks[sinkName]!.settings).length === 0) return [];
  const sink = createSink(config, sinkName);
  try {
    return await countLanes(ledger, { config, sinkName, sink, sinkId: 0 }, lanes, tallies);
  } finally {
    await sink.close();
  }
}

/** Returns the sentences about lists, as the status would show them, by list. */
async function problemsOf(
  ledger: Ledger,
  { syncs, sinks }: Config,
  sink: string,
  counts: readonly MappedCount[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  if (counts.length === 0) return texts;
  const alone = { syncs, sinks: { [sink]: sinks[sink]! } };
  const seen = await fieldsSeen(ledger, alone);
  for (const count of counts) {
    const text = mappingProblem(count, alone, sink, seen);
    if (text !== null) texts.set(count.list, text);
  }
  return texts;
}

function byMapping({ withheld }: MappedCount): Record<string, number> {
  return Object.fromEntries(Object.entries(withheld).filter(([reason, n]) => n > 0 && mappingReasons.includes(reason)));
}

function notSent(count: MappedCount): number {
  return sumOf(byMapping(count)) + count.failed;
}
