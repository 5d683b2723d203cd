import type { Intervals } from '../config/config.js';
import { type CadenceReason, isLiveReason } from '../operations/freshness.js';
import type { ListName } from '../pigeonhole/lists.js';
import type { Stretch } from '../work/asking/quota-rules.js';

/** When something takes place, epoch ms; null: not known. */
export interface TimeWindow {
  readonly startsAt: number | null;
  readonly endsAt: number | null;
}

export const noWindow: TimeWindow = { startsAt: null, endsAt: null };

/** All that how often a stream is read depends on. Instants are epoch ms. */
export interface StreamFacts {
  readonly list: ListName;
  /** Of the session of a per-session stream; undefined for other streams, or when the service did not say. */
  readonly sessionType: string | undefined;
  /** Of the session of a per-session stream; without instants for other streams. */
  readonly session: TimeWindow;
  /** Of the pigeonhole, as the service last said; null: not known yet. */
  readonly status: string | null;
  /** The days of the pigeonhole, from the beginning of the first to the end of the last. */
  readonly event: TimeWindow;
  /** End of the last read that found something; null: none did. */
  readonly lastChangeAt: number | null;
  /** Reads in a row that found nothing. */
  readonly quietReads: number;
  /** Of the last whole sweep; null: none has ended. */
  readonly pages: number | null;
  /** Its walks have shown no order, so that no poll can tell what is new. */
  readonly isUnordered: boolean;
  readonly sweptAt: number | null;
  /** When the pigeonhole was first seen as ended; null: it is not, or was not seen. */
  readonly endedAt: number | null;
  /** The end of the rehearsal that an operator started in the pigeonhole; null or past: none is on. */
  readonly rehearsalUntil: number | null;
  /** From the quota: how much longer everything waits. */
  readonly stretch: Stretch;
}

/** How often a stream is read. */
export interface Cadence {
  /** From one read to the next; null: it is not read any more. */
  readonly pollInMs: number | null;
  /** The polling interval before the quota lengthens it; null: it is not read any more. */
  readonly wantedMs: number | null;
  /** What decided the polling interval. */
  readonly reason: CadenceReason;
  /** From one whole sweep to the next, or until the one that is due by the calendar; null: none is to come. */
  readonly sweepInMs: number | null;
  /** Pages of the rolling sweep that each read takes along; of a stream of one page, 1 is the whole of it. */
  readonly slicePages: number;
  /** What its polls are for the quota. */
  readonly priority: 'live' | 'idle';
  /** It is read again only when its pigeonhole is another thing than ended. */
  readonly dormant: boolean;
}

/** Lists that are read per session, and the session type that fills them. */
export const perSessionLists: ReadonlyMap<ListName, string> = new Map([
  ['votes', 'qna'],
  ['answer_ratings', 'qna'],
  ['answers', 'poll_word_cloud'],
]);

/** Lists on whose old pages the moderation of a live session shows: they are swept in seconds. */
const moderatedLists: ReadonlySet<ListName> = new Set(['questions', 'qna-questions']);

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How often the workspace's own lists are read: new pigeonholes and their status are told by nothing else. */
const workspaceIntervalMs = minuteMs;
/** Sessions are opened before their time, and run over it. */
export const marginBeforeMs = 10 * minuteMs;
export const marginAfterMs = 30 * minuteMs;
/** What was found so lately means that more is on its way, whatever the calendar says. */
export const activeForMs = 2 * minuteMs;
/** The longest that a quiet stream of a live pigeonhole waits outside of its window, where the configuration states no interval. */
const longestQuietMs = 5 * minuteMs;
/** The longest interval after the end of a pigeonhole, where the configuration does not state `every.ended`. */
const longestEndedMs = dayMs;
/** The longest that a list waits which its session's type does not fill. */
const longestUnfilledMs = 6 * hourMs;
/** Whole sweeps after the end: what is approved, withdrawn or signed in late. Behind the last the stream is dormant. */
export const finalSweepsMs = [hourMs, dayMs, 7 * dayMs] as const;
/** So many pages of a live list of questions are read whole by each poll: what a moderator does is seen by the next. */
const wholePages = 5;
/** A sweep that is due is read on by so many pages at a time. */
export const dueSlicePages = 10;
/** Of a live list in no order, each read takes this many pages: a new item can be on any of them. */
const unorderedPages = 10;

/**
 * How often a stream is read, and why. Pure; the only place that decides. What is configured is kept while the stream is live: in
 * a pigeonhole that is live (or of a status never heard of: reading too often is the smaller mistake), inside its window
 * and the margins around it, where a window that is not known counts as open, after activity, and in a rehearsal whatever the status. Outside
 * its window a stream keeps an interval that the configuration states; the default backs off while nothing changes, but never sleeps past the
 * beginning of the window. Where the quota does not reach for all, `stretch` lengthens it.
 */
export function cadenceOf(facts: StreamFacts, every: Intervals, now: number): Cadence {
  const { list } = facts;
  if (list === 'pigeonholes' || list === 'subscriptions') {
    // The state of each pigeonhole is an edit on an old page.
    const slicePages = list === 'pigeonholes' ? halfOf(facts.pages) : 0;
    const pollMs = liveInterval(list, every);
    return cadence(facts, now, { pollMs, sweepMs: every.sweep, slicePages, reason: 'workspace', priority: 'idle' });
  }
  const isRehearsed = facts.rehearsalUntil !== null && now < facts.rehearsalUntil;
  if (facts.status === 'ended' && !isRehearsed) return afterTheEnd(facts, every, now);
  if (isUnfilled(facts) && !isActive(facts, now)) {
    const rarely = backedOff(every.sweep, facts.quietReads, Math.max(longestUnfilledMs, every.sweep));
    return cadence(facts, now, {
      pollMs: rarely,
      sweepMs: rarely,
      slicePages: 0,
      reason: 'unfilled',
      priority: 'idle',
    });
  }
  const liveMs = liveInterval(list, every);
  const slicePages = moderatedLists.has(list) ? moderatedSlice(facts.pages) : 1;
  const live = { pollMs: liveMs, sweepMs: every.sweep, slicePages, priority: 'live' } as const;
  if (isRehearsed) return cadence(facts, now, { ...live, reason: 'rehearsal' });
  if (facts.status === 'new' || facts.status === 'upcoming') {
    const pollMs = every[facts.status];
    const sweepMs = Math.max(every.sweep, pollMs);
    return cadence(facts, now, { pollMs, sweepMs, slicePages: 0, reason: facts.status, priority: 'idle' });
  }
  if (isWithin(windowOf(facts), now)) return cadence(facts, now, { ...live, reason: 'live' });
  if (isActive(facts, now)) return cadence(facts, now, { ...live, reason: 'found' });
  const longestMs = longestQuiet(list, every);
  // The interval is kept, and the quota lengthens it before those of lists whose session runs.
  if (longestMs <= liveMs) return cadence(facts, now, { ...live, reason: 'stated', priority: 'idle' });
  const quietMs = backedOff(liveMs, facts.quietReads, longestMs);
  const read = cadence(facts, now, {
    pollMs: quietMs,
    sweepMs: Math.max(every.sweep, quietMs),
    slicePages: 0,
    reason: hasOwnWindow(facts) ? 'no-session' : 'no-event-day',
    priority: 'idle',
  });
  return { ...read, pollInMs: Math.min(read.pollInMs, untilOpen(facts, now)) };
}

/** Returns how many pages of the sweep one read takes: beside its poll, or, of a live list in no order, instead of one. Pure. */
export function slicePagesOf(
  { slicePages, reason }: Pick<Cadence, 'slicePages' | 'reason'>,
  { isUnordered, pages }: Pick<StreamFacts, 'isUnordered' | 'pages'>,
): number {
  if (!isUnordered || !isLiveReason(reason)) return slicePages;
  return Math.max(slicePages, Math.min(unorderedPages, Math.max(1, pages ?? 1)));
}

/** Whether a stream is read as one that people watch: with the pages of its rolling sweep that show edits within seconds. */
export function isLive({ reason }: Pick<Cadence, 'reason'>): boolean {
  return isLiveReason(reason);
}

/** The longest interval outside the window. An interval that the configuration states is kept unless it states `quiet` as well. */
function longestQuiet(list: ListName, every: Intervals): number {
  const own = liveInterval(list, every);
  if (every.quiet !== undefined) return every.quiet <= every.live ? own : Math.max(every.quiet, own);
  return list in every.lists ? own : Math.max(longestQuietMs, own);
}

function isActive({ lastChangeAt }: StreamFacts, now: number): boolean {
  return lastChangeAt !== null && now - lastChangeAt < activeForMs;
}

/** The session's window; for a list of the whole pigeonhole, its days. */
function windowOf(facts: StreamFacts): TimeWindow {
  return hasOwnWindow(facts) ? facts.session : facts.event;
}

function hasOwnWindow({ list, session }: StreamFacts): boolean {
  return perSessionLists.has(list) && (session.startsAt ?? session.endsAt) !== null;
}

function isWithin({ startsAt, endsAt }: TimeWindow, now: number): boolean {
  return (startsAt === null || now >= startsAt - marginBeforeMs) && (endsAt === null || now < endsAt + marginAfterMs);
}

/** Ms until the window opens; infinite when it is open, over or not known. */
function untilOpen(facts: StreamFacts, now: number): number {
  const { startsAt } = windowOf(facts);
  const opensAt = startsAt === null ? Number.NEGATIVE_INFINITY : startsAt - marginBeforeMs;
  return opensAt > now ? Math.max(1000, opensAt - now) : Number.POSITIVE_INFINITY;
}

function isUnfilled({ list, sessionType }: StreamFacts): boolean {
  const fills = perSessionLists.get(list);
  return fills !== undefined && sessionType !== undefined && sessionType !== fills;
}

const dormant: Cadence = {
  pollInMs: null,
  wantedMs: null,
  reason: 'dormant',
  sweepInMs: null,
  slicePages: 0,
  priority: 'idle',
  dormant: true,
};

/** Fewer polls the longer nothing comes, and whole sweeps at their times; an end that was not dated begins now. */
function afterTheEnd(facts: StreamFacts, every: Intervals, now: number): Cadence {
  const { quietReads, sweptAt, endedAt } = facts;
  const marks = finalSweepsMs.map((afterMs) => (endedAt ?? now) + afterMs);
  const open = marks.filter((mark) => sweptAt === null || sweptAt < mark);
  const due = open.findLast((mark) => mark <= now) ?? open[0]; // of several that were missed one is enough
  if (due === undefined) return dormant;
  const pollMs = backedOff(every.ended, quietReads, every.longestEnded ?? Math.max(longestEndedMs, every.ended));
  const want = { pollMs, sweepMs: Number.POSITIVE_INFINITY, slicePages: 0, reason: 'ended', priority: 'idle' } as const;
  const read = cadence(facts, now, want);
  const sweepInMs = Math.max(0, due - now);
  return {
    ...read,
    slicePages: sweepInMs === 0 ? dueSlicePages : read.slicePages,
    sweepInMs,
    pollInMs: Math.min(read.pollInMs, Math.max(1000, sweepInMs)),
  };
}

/** What is wanted, as the quota allows it; a sweep that is due goes through, in slices. */
function cadence(
  { stretch, sweptAt, pages }: StreamFacts,
  now: number,
  want: { pollMs: number; sweepMs: number; slicePages: number } & Pick<Cadence, 'reason' | 'priority'>,
): Cadence & { pollInMs: number } {
  const sweepInMs = stretched(want.sweepMs, stretch.sweep, stretch.untilMs);
  const isDue = sweptAt === null || sweptAt + sweepInMs <= now;
  const rolling = Math.floor(want.slicePages / stretch.sweep);
  return {
    pollInMs: stretched(want.pollMs, want.priority === 'live' ? stretch.live : stretch.idle, stretch.untilMs),
    wantedMs: want.pollMs,
    reason: want.reason,
    sweepInMs,
    // A stream of one page is swept by each poll, at no cost.
    slicePages: isDue ? dueSlicePages : pages === 1 ? 1 : rolling,
    priority: want.priority,
    dormant: false,
  };
}

/**
 * What is stretched waits for no longer than until the quota's reset: behind it there is room again, and the next window
 * has its own stretch. A stretch of the last second of a minute's window once put a poll off for hours.
 */
function stretched(intervalMs: number, stretch: number, untilMs: number): number {
  return Math.min(Math.round(intervalMs * stretch), Math.max(intervalMs, untilMs));
}

/** All pages of a short list, half of a longer one: what is short costs little, and most lists of questions are. */
function moderatedSlice(pages: number | null): number {
  return pages !== null && pages <= wholePages ? pages : halfOf(pages);
}

/** At least half of the pages, up to ten; of a stream that was never walked, the one that a poll reads anyway. */
function halfOf(pages: number | null): number {
  return Math.min(10, Math.max(1, Math.ceil((pages ?? 1) / 2)));
}

/** Doubled with every read in a row that found nothing. */
function backedOff(intervalMs: number, quietReads: number, longestMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(quietReads, 30), longestMs);
}

/** Of a list by itself: as it is set, else the default of its kind. */
function liveInterval(list: ListName, every: Intervals): number {
  const otherwise = { pigeonholes: workspaceIntervalMs, subscriptions: every.sweep } as const;
  return every.lists[list] ?? (list === 'pigeonholes' || list === 'subscriptions' ? otherwise[list] : every.live);
}

/** Longer intervals are kept from the end of each read: what they save by meeting is nothing. */
const longestTickMs = 60_000;

/**
 * Milliseconds from `now` to the next read of a stream that is read every so often. Short intervals are ticks of the
 * clock, so that all streams of a pigeonhole come due together, however their first walks ended, and a cycle is one
 * turn; pigeonholes are shifted against each other, so that they do not. At least a quarter of an interval from
 * now: reading must not fill all of the time, and one tick is left out where it takes longer. Pure.
 */
export function untilNextRead(intervalMs: number, pigeonholeRef: number, now: number): number {
  if (intervalMs > longestTickMs) return intervalMs;
  const shift = ((pigeonholeRef * 0.618) % 1) * intervalMs; // golden ratio: no two of few are close
  const sinceTick = (now - shift) % intervalMs;
  const untilTick = intervalMs - sinceTick;
  return Math.round(untilTick < intervalMs / 4 ? untilTick + intervalMs : untilTick);
}

/** A pigeonhole is read once for all its syncs: each interval is the shortest that any of them asks for. */
export function shortest(all: readonly Intervals[]): Intervals {
  const least = (pick: (every: Intervals) => number): number => Math.min(...all.map(pick));
  const lists: Partial<Record<ListName, number>> = {};
  for (const list of all.flatMap((every) => Object.keys(every.lists) as ListName[])) {
    // Also of those who set none for this list: they want it as often as all that is live.
    lists[list] = least((every) => liveInterval(list, every));
  }
  // A sync that states nothing backs off to the default; one that keeps its interval is not slowed down by it.
  const quiet = all.some((every) => every.quiet !== undefined)
    ? { quiet: least((every) => every.quiet ?? longestQuietMs) }
    : {};
  const longestEnded = all.some((every) => every.longestEnded !== undefined)
    ? { longestEnded: least((every) => every.longestEnded ?? Math.max(longestEndedMs, every.ended)) }
    : {};
  return {
    ...quiet,
    ...longestEnded,
    live: least((every) => every.live),
    new: least((every) => every.new),
    upcoming: least((every) => every.upcoming),
    ended: least((every) => every.ended),
    sweep: least((every) => every.sweep),
    lists,
  };
}
