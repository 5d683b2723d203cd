import type { Intervals } from '../config/config.js';
import { isOfWorkspace, questionLists, type ServiceListName, serviceTraits } from '../base/lists.js';
import type { Stretch } from '../requests/quota-rules.js';
import { longestQuietMs, longestEndedMs, liveInterval } from './reading-plan.js';

/** Start and end of an event or a session, epoch ms; null: not known. */
export interface TimeWindow {
  readonly startsAt: number | null;
  readonly endsAt: number | null;
}

export const noWindow: TimeWindow = { startsAt: null, endsAt: null };

/** The facts that decide how often a stream is read. Instants are epoch ms. */
export interface StreamFacts {
  readonly list: ServiceListName;
  /** Type of the session of a per-session stream; undefined for other streams, or if the service reports none. */
  readonly sessionType: string | undefined;
  /** Times of the session of a per-session stream; `noWindow` for other streams. */
  readonly session: TimeWindow;
  /** Status of the pigeonhole, as the service last reported it; null: not known yet. */
  readonly status: string | null;
  /** The days of the pigeonhole, from the start of the first to the end of the last. */
  readonly event: TimeWindow;
  /** End of the last read that found something; null: none did. */
  readonly lastChangeAt: number | null;
  /** Number of consecutive reads that found nothing. */
  readonly quietReads: number;
  /** Number of pages in the last complete sweep; null: no sweep is complete. */
  readonly pages: number | null;
  /** True if the walks have shown that the list is in no order. A poll can then find no new items. */
  readonly isUnordered: boolean;
  /** End of the last complete sweep; null: no sweep is complete. */
  readonly sweptAt: number | null;
  /** Instant at which the pigeonhole was first seen as ended; null: it has not ended. */
  readonly endedAt: number | null;
  /** End of the rehearsal that an operator started in the pigeonhole; null or past: no rehearsal. */
  readonly rehearsalUntil: number | null;
  /** The factors by which intervals are lengthened so that the quota lasts. */
  readonly stretch: Stretch;
}

/** The intervals at which a stream is read. */
export interface Cadence {
  /** Time between two reads; null: the stream is dormant. */
  readonly pollInMs: number | null;
  /** The polling interval before the quota lengthens it; null: the stream is dormant. */
  readonly wantedMs: number | null;
  /** The reason for the polling interval. */
  readonly reason: CadenceReason;
  /**
   * Time between two complete sweeps. After the event's end: time until the next final sweep. Null: the stream is
   * dormant.
   */
  readonly sweepInMs: number | null;
  /** Number of pages that each read sweeps in addition to its poll. */
  readonly slicePages: number;
  /** Priority of the stream's polls in the quota. */
  readonly priority: 'live' | 'idle';
  /**
   * True after the last final sweep: until the pigeonhole's status is no longer `ended`, the stream is read only every
   * 30 days (`dormantMs`).
   */
  readonly dormant: boolean;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Sessions open before their scheduled start and run past their end. */
export const marginBeforeMs = 10 * minuteMs;
export const marginAfterMs = 30 * minuteMs;
/** For this time after a change, the stream counts as active whatever the schedule says. */
export const activeForMs = 2 * minuteMs;
/** Maximum interval of a list that the session's type leaves empty, such as `votes` in a word cloud. */
const longestUnfilledMs = 6 * hourMs;
/**
 * Times from the end of a pigeonhole to its final sweeps, which find late approvals, removals and sign-ins. After the
 * last one, the streams are dormant.
 */
export const finalSweepsMs = [hourMs, dayMs, 7 * dayMs] as const;
/**
 * A live list of questions with at most this number of pages is read completely at each poll, so that each poll finds
 * everything that moderators have changed.
 */
const wholePages = 5;
/** Number of pages that each read sweeps while a complete sweep is due. */
const dueSlicePages = 10;
/**
 * Maximum number of pages that one read sweeps if the list is live and in no order. A new item can be on any page of
 * such a list.
 */
const unorderedPages = 10;

/**
 * Returns how often a stream is read, and why. Only `nextReads` in read-stream.ts may lengthen the returned interval,
 * when the stream has to rest after a long walk (`whole-walk`). Pure.
 *
 * A live stream is read at the configured interval. In a live pigeonhole, a stream is live during its window and the
 * margins around it, and for `activeForMs` after a change; outside the window also if the configuration states the
 * interval. An unknown status counts as live and an unknown window as open, because reading too often does less harm
 * than reading too rarely. During a rehearsal, every stream is live unless the session's type leaves its list empty.
 *
 * Outside its window, a list with an interval of its own in the configuration keeps it, unless `quiet` is longer
 * (`longestQuiet`). For all other lists, the interval doubles with each read that finds nothing, but the stream is read
 * when its window starts. If the quota is short, `stretch` lengthens the interval.
 */
export function cadenceOf(facts: StreamFacts, every: Intervals, now: number): Cadence {
  const { list } = facts;
  if (isOfWorkspace(list)) {
    // When a pigeonhole's status changes, its item changes on an old page, which only a sweep reads.
    const slicePages = serviceTraits[list].interval === 'minute' ? halfOf(facts.pages) : 0;
    const pollMs = liveInterval(list, every);
    return cadence(facts, now, { pollMs, sweepMs: every.sweep, slicePages, reason: 'workspace', priority: 'idle' });
  }
  const isRehearsed = facts.rehearsalUntil !== null && now < facts.rehearsalUntil;
  if (facts.status === 'ended' && !isRehearsed) return afterTheEnd(facts, every, now);
  if (isUnfilled(facts) && !isActive(facts, now)) {
    const unfilledMs = backedOff(every.sweep, facts.quietReads, Math.max(longestUnfilledMs, every.sweep));
    return cadence(facts, now, {
      pollMs: unfilledMs,
      sweepMs: unfilledMs,
      slicePages: 0,
      reason: 'unfilled',
      priority: 'idle',
    });
  }
  const liveMs = liveInterval(list, every);
  // Moderators of a live session change questions on any page, so each poll also sweeps a larger part of the list.
  const slicePages = questionLists.has(list) ? moderatedSlice(facts.pages) : 1;
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
  // Priority `idle`: the quota lengthens this interval before those of lists whose session is running.
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

/**
 * Returns the number of pages that one read sweeps in addition to its poll. A live list in no order cannot be polled,
 * so its reads sweep more pages. Pure.
 */
export function slicePagesOf(
  { slicePages, reason }: Pick<Cadence, 'slicePages' | 'reason'>,
  { isUnordered, pages }: Pick<StreamFacts, 'isUnordered' | 'pages'>,
): number {
  if (!isUnordered || !isLiveReason(reason)) return slicePages;
  return Math.max(slicePages, Math.min(unorderedPages, Math.max(1, pages ?? 1)));
}

/** Whether a stream is live: people expect its items and edits within seconds. */
export function isLive({ reason }: Pick<Cadence, 'reason'>): boolean {
  return isLiveReason(reason);
}

/**
 * Returns the maximum interval outside the window. A list's own interval is kept unless `quiet` is longer than both it
 * and `live`.
 */
function longestQuiet(list: ServiceListName, every: Intervals): number {
  const own = liveInterval(list, every);
  if (every.quiet !== undefined) return every.quiet <= every.live ? own : Math.max(every.quiet, own);
  return list in every.lists ? own : Math.max(longestQuietMs, own);
}

function isActive({ lastChangeAt }: StreamFacts, now: number): boolean {
  return lastChangeAt !== null && now - lastChangeAt < activeForMs;
}

/** Returns the session's window, or the pigeonhole's days for a list of the whole pigeonhole. */
function windowOf(facts: StreamFacts): TimeWindow {
  return hasOwnWindow(facts) ? facts.session : facts.event;
}

function hasOwnWindow({ list, session }: StreamFacts): boolean {
  return serviceTraits[list].perSession !== null && (session.startsAt ?? session.endsAt) !== null;
}

function isWithin({ startsAt, endsAt }: TimeWindow, now: number): boolean {
  return (startsAt === null || now >= startsAt - marginBeforeMs) && (endsAt === null || now < endsAt + marginAfterMs);
}

/** Returns the ms until the window opens; infinity if it is open, over or not known. */
function untilOpen(facts: StreamFacts, now: number): number {
  const { startsAt } = windowOf(facts);
  const opensAt = startsAt === null ? Number.NEGATIVE_INFINITY : startsAt - marginBeforeMs;
  return opensAt > now ? Math.max(1000, opensAt - now) : Number.POSITIVE_INFINITY;
}

function isUnfilled({ list, sessionType }: StreamFacts): boolean {
  const fills = serviceTraits[list].perSession;
  return fills !== null && sessionType !== undefined && sessionType !== fills;
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

/**
 * Returns the cadence of a stream in an ended pigeonhole: polls at growing intervals, and the final sweeps. If the
 * instant of the end is not known, it counts as now.
 */
function afterTheEnd(facts: StreamFacts, every: Intervals, now: number): Cadence {
  const { quietReads, sweptAt, endedAt } = facts;
  const marks = finalSweepsMs.map((afterMs) => (endedAt ?? now) + afterMs);
  const open = marks.filter((mark) => sweptAt === null || sweptAt < mark);
  const due = open.findLast((mark) => mark <= now) ?? open[0]; // one sweep makes up for several missed ones
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

/**
 * Lengthens the wanted intervals as the quota requires. Once a complete sweep is due, each read includes a part of it.
 */
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
    // Each poll of a stream of one page also sweeps it, at no extra cost.
    slicePages: isDue ? dueSlicePages : pages === 1 ? 1 : rolling,
    priority: want.priority,
    dormant: false,
  };
}

/**
 * Lengthens an interval, but not beyond the quota's reset, after which other factors apply. Without this bound, a
 * factor computed one second before the reset could postpone a poll for hours. `replanStreams` applies the same rule in
 * SQL.
 */
function stretched(intervalMs: number, stretch: number, untilMs: number): number {
  return Math.min(Math.round(intervalMs * stretch), Math.max(intervalMs, untilMs));
}

/**
 * Returns the number of pages to sweep: all pages of a short list, half (at most 10) of a longer one. Most lists of
 * questions are short, so reading them whole costs little.
 */
function moderatedSlice(pages: number | null): number {
  return pages !== null && pages <= wholePages ? pages : halfOf(pages);
}

/** Returns half of the pages, at most 10; 1 for a stream that was never walked. */
function halfOf(pages: number | null): number {
  return Math.min(10, Math.max(1, Math.ceil((pages ?? 1) / 2)));
}

/** Doubles the interval for each consecutive read that found nothing. */
function backedOff(intervalMs: number, quietReads: number, longestMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(quietReads, 30), longestMs);
}

/**
 * Maximum interval that is aligned to ticks. A longer one starts at the end of each read: aligning it saves nothing.
 */
const longestTickMs = 60_000;

/**
 * Returns the ms from `now` until the next read of a stream with this interval. Short intervals are aligned to ticks of
 * the clock, so that one cycle reads all streams of a pigeonhole. The ticks of different pigeonholes are shifted
 * against each other. The result is at least a quarter of the interval: a stream whose reads are slow skips a tick
 * instead of being read without a pause. Pure.
 */
export function untilNextRead(intervalMs: number, pigeonholeNumber: number, now: number): number {
  if (intervalMs > longestTickMs) return intervalMs;
  const shift = ((pigeonholeNumber * 0.618) % 1) * intervalMs; // golden ratio: keeps the ticks of a few pigeonholes apart
  const sinceTick = (now - shift) % intervalMs;
  const untilTick = intervalMs - sinceTick;
  return Math.round(untilTick < intervalMs / 4 ? untilTick + intervalMs : untilTick);
}

/** The reasons for a list's current polling interval. The ledger stores these words. */
export const cadenceReasons = [
  'live', // within the window of the session or the event
  'found', // a change was found less than `activeForMs` ago
  'rehearsal',
  'stated', // outside the window, but the configuration states an interval for this list
  'no-session', // the session is not running
  'no-event-day', // the event is not running
  'unfilled', // the session's type leaves the list empty
  'new', // the pigeonhole's status
  'upcoming', // the pigeonhole's status
  'ended', // the pigeonhole's status
  'dormant', // after the last final sweep
  'workspace', // a list of the workspace
  'whole-walk', // the stream rests after a walk over the whole list
] as const;

export type CadenceReason = (typeof cadenceReasons)[number];

/** Reasons for which a stream counts as live: people expect its items within seconds. */
const liveReasons: ReadonlySet<CadenceReason> = new Set(['live', 'found', 'rehearsal', 'stated']);

export function isLiveReason(reason: CadenceReason | null): boolean {
  return reason !== null && liveReasons.has(reason);
}
