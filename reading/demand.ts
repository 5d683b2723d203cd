import type { Intervals } from '../config/config.js';
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
import type { Needs } from '../work/asking/quota-rules.js';

export const noNeeds: Needs = { live: 0, idle: 0, sweep: 0 };

/**
 * The requests that a stream will need between two instants if nothing changes in it, by its cadence: what the quota is
 * held against. Pure. Cut where the calendar changes the cadence, and reckoned evenly in between. A stream of one page
 * is swept by its polls.
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

/** One that is due at the beginning, or never ended yet. */
function overdueSweep(facts: StreamFacts, every: Intervals, atMs: number): Needs {
  const { sweepInMs } = cadenceOf(facts, every, atMs);
  const isDue = sweepInMs !== null && (facts.sweptAt === null || facts.sweptAt + sweepInMs <= atMs || sweepInMs === 0);
  return isDue ? { ...noNeeds, sweep: facts.pages ?? 1 } : noNeeds;
}

function demandOfPiece(facts: StreamFacts, every: Intervals, startMs: number, endMs: number): Needs {
  const cadence = cadenceOf({ ...facts, sweptAt: startMs }, every, startMs);
  if (cadence.pollInMs === null || cadence.sweepInMs === null) return noNeeds;
  const polls = (endMs - startMs) / cadence.pollInMs;
  // Its pages are requested as live polls are.
  if (facts.isUnordered && isLive(cadence))
    return { ...noNeeds, [cadence.priority]: polls * slicePagesOf(cadence, facts) };
  const sweep = sweptPages(facts.pages ?? 1, cadence.slicePages, polls, (endMs - startMs) / cadence.sweepInMs);
  return cadence.priority === 'live' ? { live: polls, idle: 0, sweep } : { live: 0, idle: polls, sweep };
}

/** Pages beside the polls: those that they take along, or else whole sweeps. */
function sweptPages(pages: number, slicePages: number, polls: number, sweeps: number): number {
  if (pages <= 1) return 0;
  return slicePages > 0 ? polls * Math.min(slicePages, pages) : sweeps * pages;
}
