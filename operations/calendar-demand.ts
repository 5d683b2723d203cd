import { grouped } from '../base/words.js';
import type { TimeWindow } from '../reading/cadence.js';
import { addNeeds, demandBetween, noNeeds, allNeeds } from '../reading/demand.js';
import { type SessionTimes, factsOf } from '../reading/stream-facts.js';
import { type Needs, unstretched } from '../work/requests/quota-rules.js';
import { streamsOf, type ReadingPlan } from '../work/reading-plan.js';
import type { Intervals } from '../config/config.js';

/** A pigeonhole's calendar and its reading plan. */
export interface PlannedPigeonhole {
  readonly status: string | null;
  readonly event: TimeWindow;
  readonly sessions: ReadonlyMap<number, SessionTimes>;
  /** Null: the service does not report it, and one page of attendees is assumed. */
  readonly expectedParticipants: number | null;
  readonly plan: ReadingPlan;
}

/** A day of the calendar, with the requests that reading would need on it. */
export interface DayDemand {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string;
  /** Number of pigeonholes that take place on this day. */
  readonly pigeonholes: number;
  readonly needs: Needs;
}

export const dayMs = 24 * 3_600_000;
const perPage = 300;
/** Maximum number of questions assumed for a pigeonhole; below it, one question for each participant is assumed. */
const maxQuestions = 1000;
/** Consecutive reads without a change, assumed for every list: after this number, an interval no longer grows. */
const longQuiet = 30;

/**
 * Returns the days on which a pigeonhole takes place, starting at `fromMs`. Each has the number of requests that
 * reading needs on that day for all pigeonholes: running, upcoming and ended. Pure. It assumes that each pigeonhole is
 * live between its start and its end, that each list except attendees and questions has one page, and that nothing is
 * left to read from the days before.
 * @param workspacePlans reading plans for the lists of the workspaces themselves
 */
export function calendarDemand(
  pigeonholes: readonly PlannedPigeonhole[],
  workspacePlans: readonly ReadingPlan[],
  fromMs: number,
): DayDemand[] {
  const days = new Set<number>();
  for (const { event } of pigeonholes) {
    if (event.startsAt === null || event.endsAt === null) continue;
    const first = Math.max(startOfDay(fromMs), startOfDay(event.startsAt));
    for (let at = first; at < event.endsAt; at += dayMs) days.add(at);
  }
  const upcoming = new Map<PlannedPigeonhole, Needs>(); // the needs of a day before its first day, which are the same on every such day
  return [...days]
    .toSorted((a, b) => a - b)
    .map((at) => {
      const needs = pigeonholes.map((pigeonhole) => {
        const { startsAt } = pigeonhole.event;
        if (startsAt === null || startsAt < at + dayMs) return demandOfDay(pigeonhole, at);
        const known = upcoming.get(pigeonhole) ?? demandOfDay(pigeonhole, at);
        upcoming.set(pigeonhole, known);
        return known;
      });
      const own = workspacePlans.map((plan) =>
        demandOfDay({ plan, status: null, event: unknownWindow, sessions: new Map(), expectedParticipants: null }, at),
      );
      return {
        day: new Date(at).toISOString().slice(0, 10),
        pigeonholes: pigeonholes.filter(({ event }) => takesPlace(event, at)).length,
        needs: [...needs, ...own].reduce(addNeeds, noNeeds),
      };
    });
}

/** Returns the same pigeonholes with other intervals. Pure. */
export function withIntervals(
  pigeonholes: readonly PlannedPigeonhole[],
  change: (every: Intervals) => Intervals,
): PlannedPigeonhole[] {
  return pigeonholes.map((each) => ({ ...each, plan: { ...each.plan, everyMs: change(each.plan.everyMs) } }));
}

const unknownWindow: TimeWindow = { startsAt: null, endsAt: null };

function startOfDay(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

function takesPlace({ startsAt, endsAt }: TimeWindow, dayAt: number): boolean {
  return startsAt !== null && endsAt !== null && startsAt < dayAt + dayMs && endsAt > dayAt;
}

function demandOfDay(pigeonhole: PlannedPigeonhole, dayAt: number): Needs {
  return phasesOf(pigeonhole, dayAt)
    .map(({ status, endedAt, from, to }) => {
      const { event, sessions } = pigeonhole;
      const schedule = { status, endedAt, event, sessions, rehearsalUntil: null };
      return streamsOf(pigeonhole.plan, [...pigeonhole.sessions.keys()])
        .map((stream) => {
          const pages = pagesOf(stream.list, pigeonhole.expectedParticipants ?? 0);
          const record = {
            ...stream,
            changedAt: null,
            quietReads: longQuiet,
            pages,
            sweptAt: new Date(from),
            order: 'ascending',
          };
          return demandBetween(factsOf(record, schedule, unstretched), pigeonhole.plan.everyMs, from, to);
        })
        .reduce(addNeeds, noNeeds);
    })
    .reduce(addNeeds, noNeeds);
}

function pagesOf(list: string, participants: number): number {
  const isOfQuestions = list === 'questions' || list === 'qna-questions';
  const items = list === 'attendees' ? participants : isOfQuestions ? Math.min(participants, maxQuestions) : 0;
  return Math.max(1, Math.ceil(items / perPage));
}

interface Phase {
  readonly status: string | null;
  readonly endedAt: number | null;
  readonly from: number;
  readonly to: number;
}

/** Splits a day into the parts before, during and after the event. Without dates, the whole day has the present status. */
function phasesOf({ status, event: { startsAt, endsAt } }: PlannedPigeonhole, dayAt: number): Phase[] {
  const end = dayAt + dayMs;
  if (startsAt === null || endsAt === null) return [{ status, endedAt: null, from: dayAt, to: end }];
  const before = status === 'new' ? 'new' : 'upcoming';
  return [
    { status: before, endedAt: null, from: dayAt, to: Math.min(end, startsAt) },
    { status: 'live', endedAt: null, from: Math.max(dayAt, startsAt), to: Math.min(end, endsAt) },
    { status: 'ended', endedAt: endsAt, from: Math.max(dayAt, endsAt), to: end },
  ].filter(({ from, to }) => to > from);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** The intervals to suggest: round numbers, as an operator would write them. */
const liveSteps = [10 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute];
/** The longest interval outside session times if the file does not set `every.live`. */
const usualQuiet = 5 * minute;
const upcomingSteps = [15 * minute, 30 * minute, hour, 6 * hour];

export interface Advice {
  readonly fits: boolean | null;
  /** One sentence. */
  readonly text: string;
}

/**
 * Checks whether the busiest day fits into the quota. If not, finds the smallest change of intervals that makes it fit.
 * Pure.
 * @param quota requests a day; null: not known
 * @param reserve share of them that is kept for imports
 */
export function adviseOnQuota(
  busiest: DayDemand | undefined,
  { quota, reserve }: { readonly quota: number | null; readonly reserve: number },
  pigeonholes: readonly PlannedPigeonhole[],
  workspacePlans: readonly ReadingPlan[],
): Advice {
  if (busiest === undefined) return { fits: null, text: 'No pigeonhole that is read takes place today or later.' };
  const need = Math.ceil(allNeeds(busiest.needs));
  const day = `The busiest day, ${busiest.day}, needs about ${grouped(need)} requests`;
  if (quota === null) {
    return { fits: null, text: `${day}; the service does not state its quota: add --quota N to compare.` };
  }
  const usable = Math.floor(quota * (1 - reserve));
  if (need <= usable) return { fits: true, text: `${day} of the ${grouped(usable)} that reading may use: it fits.` };
  const over = `${day}, and reading may use ${grouped(usable)} of ${grouped(quota)}`;
  const dayAt = Date.parse(`${busiest.day}T00:00:00Z`);
  const needWith = (change: (every: Intervals) => Intervals): number =>
    Math.ceil(
      allNeeds(
        calendarDemand(withIntervals(pigeonholes, change), workspacePlans, dayAt).find(
          ({ day: at }) => at === busiest.day,
        )!.needs,
      ),
    );
  const keepsLive = pigeonholes.some(({ plan }) => (plan.everyMs.quiet ?? usualQuiet) < usualQuiet);
  for (const upcoming of [0, ...upcomingSteps]) {
    for (const live of [0, ...liveSteps]) {
      if (upcoming === 0 && live === 0 && !keepsLive) continue;
      const less = needWith((every) => longer(every, live, upcoming));
      if (less > usable) continue;
      const changes = [
        ...(live === 0 ? [] : [`live: ${inShort(live)}`]),
        // If the file sets only `live`, that interval also applies outside session times.
        ...((keepsLive || live > 0) && live < usualQuiet ? [`quiet: ${inShort(usualQuiet)}`] : []),
        ...(upcoming === 0 ? [] : [`upcoming: ${inShort(upcoming)}`]),
      ];
      return { fits: false, text: `${over}: with "every: { ${changes.join(', ')} }" it needs ${grouped(less)}.` };
    }
  }
  return { fits: false, text: `${over}: read fewer lists or pigeonholes, or request a larger quota.` };
}

function longer(every: Intervals, live: number, upcoming: number): Intervals {
  return {
    ...every,
    live: Math.max(every.live, live),
    quiet: Math.max(every.quiet ?? 0, usualQuiet),
    upcoming: Math.max(every.upcoming, upcoming),
    lists: Object.fromEntries(
      Object.entries(every.lists).map(([list, ms]) => [list, list === 'pigeonholes' ? ms : Math.max(ms, live)]),
    ),
  };
}

function inShort(ms: number): string {
  if (ms % hour === 0) return `${ms / hour}h`;
  return ms % minute === 0 ? `${ms / minute}m` : `${ms / second}s`;
}
