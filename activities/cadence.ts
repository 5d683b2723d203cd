import type { Intervals } from '../config/config.js';
import type { ListName } from '../pigeonhole/lists.js';

export interface StreamFacts {
  readonly list: ListName;
  /** Of the session of a per-session stream; undefined for other streams, or when the service did not say. */
  readonly sessionType: string | undefined;
  /** As the service last said; null: not known yet. */
  readonly status: string | null;
}

/** Lists that are read per session, and the session type that fills them. */
export const perSessionLists: ReadonlyMap<ListName, string> = new Map([
  ['votes', 'qna'],
  ['answer_ratings', 'qna'],
  ['answers', 'poll_word_cloud'],
]);

/** How often the workspace's own lists are read: new pigeonholes and their status are told by nothing else. */
const workspaceIntervalMs = 60_000;

/**
 * Milliseconds from the end of one read of a stream to the next. Pure. A status never heard of counts as live: reading
 * too often is the smaller mistake. A list that its session's type does not fill is looked at once a sweep.
 */
export function intervalOf(stream: StreamFacts, every: Intervals): number {
  if (stream.list === 'pigeonholes' || stream.list === 'subscriptions') return liveInterval(stream.list, every);
  const fills = perSessionLists.get(stream.list);
  if (fills !== undefined && stream.sessionType !== undefined && stream.sessionType !== fills) return every.sweep;
  switch (stream.status) {
    case 'new':
    case 'upcoming':
    case 'ended':
      return every[stream.status];
    default:
      return liveInterval(stream.list, every);
  }
}

/** Whether people are taking part now, as far as the service said; a status never heard of counts. Pure. */
export function isLive(status: string | null): boolean {
  return status !== 'new' && status !== 'upcoming' && status !== 'ended';
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
 * turn; pigeonholes are shifted against each other, so that they do not. At least half an interval from now: where
 * reading takes longer than that, it must not fill all of the time. Pure.
 */
export function untilNextRead(intervalMs: number, pigeonholeRef: number, now: number): number {
  if (intervalMs > longestTickMs) return intervalMs;
  const shift = ((pigeonholeRef * 0.618) % 1) * intervalMs; // golden ratio: no two of few are close
  const sinceTick = (now - shift) % intervalMs;
  const untilTick = intervalMs - sinceTick;
  return Math.round(untilTick < intervalMs / 2 ? untilTick + intervalMs : untilTick);
}

/** A pigeonhole is read once for all its syncs: each interval is the shortest that any of them asks for. */
export function shortest(all: readonly Intervals[]): Intervals {
  const least = (pick: (every: Intervals) => number): number => Math.min(...all.map(pick));
  const lists: Partial<Record<ListName, number>> = {};
  for (const list of all.flatMap((every) => Object.keys(every.lists) as ListName[])) {
    // Also of those who set none for this list: they want it as often as all that is live.
    lists[list] = least((every) => liveInterval(list, every));
  }
  return {
    live: least((every) => every.live),
    new: least((every) => every.new),
    upcoming: least((every) => every.upcoming),
    ended: least((every) => every.ended),
    sweep: least((every) => every.sweep),
    lists,
  };
}
