import { chunksOf } from '../base/grouping.js';
import type { Intervals, Config } from '../config/config.js';
import {
  activeForMs,
  cadenceOf,
  finalSweepsMs,
  isLive,
  marginAfterMs,
  marginBeforeMs,
  slicePagesOf,
  type StreamFacts,
} from './cadence.js';
import { type Needs, unstretched } from '../requests/quota-rules.js';
import type { Ledger } from '../ledger/ledger.js';
import { pigeonholeNumberOf, selectedPigeonholes } from '../ledger/pigeonholes.js';
import { streamRecords, factsOf, readSchedules } from './stream-facts.js';
import { shortest } from './reading-plan.js';

export const noNeeds: Needs = { live: 0, idle: 0, sweep: 0 };

/**
 * Returns the number of requests that a stream needs between two instants if nothing changes in it. Splits the time at
 * the instants at which the cadence changes on schedule. The sweeps of a stream of one page need no requests of their
 * own, because each poll sweeps it. Pure.
 */
export function demandBetween(facts: StreamFacts, every: Intervals, fromMs: number, toMs: number): Needs {
  const inside = turningPoints(facts).filter((at) => at > fromMs && at < toMs);
  const cuts = [fromMs, ...inside.toSorted((a, b) => a - b), toMs];
  const pieces = cuts.slice(1).map((end, index) => demandOfPiece(facts, every, cuts[index]!, end));
  return [overdueSweep(facts, every, fromMs), ...pieces].reduce(addNeeds);
}

export function addNeeds(a: Needs, b: Needs): Needs {
  return { live: a.live + b.live, idle: a.idle + b.idle, sweep: a.sweep + b.sweep };
}

export function allNeeds({ live, idle, sweep }: Needs): number {
  return live + idle + sweep;
}

function turningPoints({ session, event, endedAt, lastChangeAt, rehearsalUntil }: StreamFacts): number[] {
  const windows = [session, event].flatMap(({ startsAt, endsAt }) => [
    ...(startsAt === null ? [] : [startsAt - marginBeforeMs]),
    ...(endsAt === null ? [] : [endsAt + marginAfterMs]),
  ]);
  const finals = endedAt === null ? [] : finalSweepsMs.map((afterMs) => endedAt + afterMs);
  const ends = [...(lastChangeAt === null ? [] : [lastChangeAt + activeForMs]), rehearsalUntil ?? []].flat();
  return [...windows, ...finals, ...ends];
}

/** Returns the requests of a sweep that is due at the start, or of the first sweep if none has completed. */
function overdueSweep(facts: StreamFacts, every: Intervals, atMs: number): Needs {
  const { sweepInMs } = cadenceOf(facts, every, atMs);
  const isDue = sweepInMs !== null && (facts.sweptAt === null || facts.sweptAt + sweepInMs <= atMs || sweepInMs === 0);
  return isDue ? { ...noNeeds, sweep: facts.pages ?? 1 } : noNeeds;
}

function demandOfPiece(facts: StreamFacts, every: Intervals, startMs: number, endMs: number): Needs {
  const cadence = cadenceOf({ ...facts, sweptAt: startMs }, every, startMs);
  if (cadence.pollInMs === null || cadence.sweepInMs === null) return noNeeds;
  const polls = (endMs - startMs) / cadence.pollInMs;
  // No poll can find new items: each read sweeps some pages, and requests them with the priority of a poll.
  if (facts.isUnordered && isLive(cadence))
    return { ...noNeeds, [cadence.priority]: polls * slicePagesOf(cadence, facts) };
  const sweep = sweptPages(facts.pages ?? 1, cadence.slicePages, polls, (endMs - startMs) / cadence.sweepInMs);
  return cadence.priority === 'live' ? { live: polls, idle: 0, sweep } : { live: 0, idle: polls, sweep };
}

/** Returns the number of pages swept in addition to the polls: in slices, or in complete sweeps if polls sweep none. */
function sweptPages(pages: number, slicePages: number, polls: number, sweeps: number): number {
  if (pages <= 1) return 0;
  return slicePages > 0 ? polls * Math.min(slicePages, pages) : sweeps * pages;
}

/**
 * Number of pigeonholes whose demand is computed in one piece. With 1,000 pigeonholes, one piece blocked the thread for
 * 150 ms.
 */
const pigeonholesAtOnce = 50;

/**
 * Returns the number of requests that reading these workspaces needs within each span from now. Uses the configured
 * cadence of all their streams, and assumes that nothing changes in them.
 */
export async function forecastNeeds(
  { ledger, config }: { readonly ledger: Ledger; readonly config: Config },
  workspaces: readonly string[],
  spansMs: readonly number[],
  now: number,
): Promise<Needs[]> {
  const syncsOf = (workspace: string): string[] =>
    Object.keys(config.syncs).filter((name) => config.syncs[name]!.workspace === workspace);
  const intervalsOf = (syncs: readonly string[]): Intervals =>
    shortest(syncs.map((name) => config.syncs[name]!.everyMs));
  const used = workspaces.filter((workspace) => syncsOf(workspace).length > 0);
  const [selected, ...ownLists] = await Promise.all([
    selectedPigeonholes(ledger, used.flatMap(syncsOf)),
    ...used.map(
      async (workspace) => [await pigeonholeNumberOf(ledger, workspace, 0), intervalsOf(syncsOf(workspace))] as const,
    ),
  ]);
  const intervals = new Map([
    ...selected.map((row) => [row.pigeonholeNumber, intervalsOf(row.syncs)] as const),
    ...ownLists,
  ]);
  const totals = spansMs.map(() => noNeeds);
  for (const pigeonholeNumbers of chunksOf([...intervals.keys()], pigeonholesAtOnce)) {
    const [schedules, streams] = await Promise.all([
      readSchedules(ledger, pigeonholeNumbers),
      streamRecords(ledger, pigeonholeNumbers),
    ]);
    for (const stream of streams) {
      const facts = factsOf(stream, schedules.get(stream.pigeonholeNumber)!, unstretched);
      const every = intervals.get(stream.pigeonholeNumber)!;
      for (const [n, spanMs] of spansMs.entries())
        totals[n] = addNeeds(totals[n]!, demandBetween(facts, every, now, now + spanMs));
    }
  }
  return totals;
}
