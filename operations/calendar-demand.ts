import { groupBy } from '../base/grouping.js';
import { listsOfPeople, questionLists } from '../base/lists.js';
import { choose, toPigeonhole } from '../reading/discover.js';
import { eventTimes, sessionTimes, type SessionTimes, factsOf } from '../reading/stream-facts.js';
import { syncsOf } from '../config/syncs.js';
import { planReading, streamsOf, type ReadingPlan } from '../reading/reading-plan.js';
import { allNeeds, addNeeds, demandBetween, noNeeds } from '../reading/demand.js';
import type { Config, Intervals } from '../config/config.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { ListRef } from '../pigeonhole/lists.js';
import { createWorkspaceClient } from '../requests/clients.js';
import { counted, grouped } from '../base/words.js';
import type { TimeWindow } from '../reading/cadence.js';
import { type Needs, unstretched } from '../requests/quota-rules.js';

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
 * Returns the days on which a pigeonhole takes place, starting with that of `fromMs`. Each has the number of requests that
 * reading needs on that day for all pigeonholes: running, upcoming and ended. Pure. It assumes that each pigeonhole is
 * live between its start and its end, that each list except attendees and questions has one page, and that nothing is
 * left to read from the days before.
 * @param workspacePlans reading plans for the lists of the workspaces themselves
 * @param range.everyDayOf the number of days from `fromMs` that are returned also without a pigeonhole; 0 by default
 */
export function calendarDemand(
  pigeonholes: readonly PlannedPigeonhole[],
  workspacePlans: readonly ReadingPlan[],
  { fromMs, everyDayOf = 0 }: { readonly fromMs: number; readonly everyDayOf?: number },
): DayDemand[] {
  const days = new Set(Array.from({ length: everyDayOf }, (_, day) => startOfDay(fromMs) + day * dayMs));
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
  const items = listsOfPeople.has(list)
    ? participants
    : questionLists.has(list)
      ? Math.min(participants, maxQuestions)
      : 0;
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
  const day = `The busiest day, ${busiest.day}, needs about ${counted(need, 'request')}`;
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
        calendarDemand(withIntervals(pigeonholes, change), workspacePlans, { fromMs: dayAt }).find(
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

/** Requests that reading needs from one key's quota. */
export interface Estimate {
  /** All workspaces that use the key. */
  readonly workspaces: readonly string[];
  /** Requests a day; null: not known. */
  readonly quota: number | null;
  /** Days with events, from today on. */
  readonly days: readonly DayDemand[];
  readonly busiest: DayDemand | null;
  readonly advice: Advice;
  /** Requests that this estimate itself has made. */
  readonly requestsMade: number;
}

/** The state of an estimate: counts its requests and keeps the last quota that the service reported. */
interface Asking {
  readonly client: PigeonholeClient;
  readonly signal: AbortSignal;
  made: number;
  limit: number | null;
}

/**
 * Estimates the requests that reading needs on the busiest day of the calendar, for each key. Reads pigeonholes, their
 * sessions and sizes; changes nothing and needs neither store nor Temporal.
 * @param quota requests a day, if the service does not report them or another plan is considered
 * @throws {ApiError} if the service cannot be read
 */
export async function* estimate(
  config: Config,
  { quota, now, signal }: { readonly quota: number | null; readonly now: number; readonly signal: AbortSignal },
): AsyncGenerator<Estimate, void, undefined> {
  for (const workspaces of sharingKeys(config)) {
    const pigeonholes: PlannedPigeonhole[] = [];
    let made = 0;
    let told: number | null = null;
    for (const workspace of workspaces) {
      const asking: Asking = { client: createWorkspaceClient(config, workspace), signal, made: 0, limit: null };
      try {
        pigeonholes.push(...(await readCalendar(config, workspace, asking, now)));
      } finally {
        await asking.client.close();
      }
      made += asking.made;
      told = asking.limit ?? told;
    }
    const own = workspaces.map((workspace) => planReading(config, syncsOf(config, workspace), 'workspace'));
    const days = calendarDemand(pigeonholes, own, { fromMs: now });
    const busiest = days.toSorted((a, b) => allNeeds(b.needs) - allNeeds(a.needs))[0];
    const reserve = Math.max(...workspaces.map((workspace) => config.workspaces[workspace]!.quota.reserve));
    const known = quota ?? told;
    const advice = adviseOnQuota(busiest, { quota: known, reserve }, pigeonholes, own);
    yield { workspaces, quota: known, days, busiest: busiest ?? null, advice, requestsMade: made };
  }
}

/** Returns the workspaces that a sync reads, grouped by key, because workspaces with the same key share its quota. */
function sharingKeys(config: Config): string[][] {
  const reading = Object.keys(config.workspaces).filter((name) => syncsOf(config, name).length > 0);
  return [...groupBy(reading, (name) => config.workspaces[name]!.apiKey.reveal()).values()];
}

async function readCalendar(
  config: Config,
  workspace: string,
  asking: Asking,
  now: number,
): Promise<PlannedPigeonhole[]> {
  const shown = await readAll(asking, { list: 'pigeonholes' });
  const items = new Map(shown.map((item) => [item['id'] as number, item]));
  const known = [...items.values()].map(toPigeonhole);
  const syncsById = new Map<number, string[]>();
  for (const sync of syncsOf(config, workspace)) {
    for (const id of choose(config.syncs[sync]!.pigeonholes, known)) {
      if (items.has(id)) syncsById.set(id, [...(syncsById.get(id) ?? []), sync]);
    }
  }
  const planned: PlannedPigeonhole[] = [];
  for (const [id, syncs] of syncsById) {
    const item = items.get(id)!;
    const event = eventTimes(item);
    if (event.endsAt !== null && event.endsAt <= now) continue; // over: a few polls a day, until it is dormant
    // One request at a time, because the estimate does not need to be fast.
    const sessions = await readAll(asking, { list: 'sessions', pigeonholeId: id });
    asking.made += 1;
    const { expectedParticipants } = await asking.client.getPigeonhole(id, { signal: asking.signal });
    planned.push({
      status: typeof item['status'] === 'string' ? item['status'] : null,
      event,
      sessions: new Map(sessions.map((session) => [session['id'] as number, sessionTimes(session)])),
      expectedParticipants: expectedParticipants ?? null,
      plan: planReading(config, syncs, 'pigeonhole'),
    });
  }
  return planned;
}

async function readAll(asking: Asking, list: ListRef): Promise<Readonly<Record<string, unknown>>[]> {
  const items: Readonly<Record<string, unknown>>[] = [];
  for await (const page of asking.client.pages(list, { signal: asking.signal })) {
    asking.made += 1;
    asking.limit = page.quota?.limit ?? asking.limit;
    items.push(...page.items);
  }
  return items.filter(({ id }) => typeof id === 'number');
}
