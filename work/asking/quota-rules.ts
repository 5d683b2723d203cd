import type { Priority, QuotaState } from './quota.js';

/** Requests that reading needs, by what they are for. */
export interface Needs {
  readonly live: number;
  readonly idle: number;
  readonly sweep: number;
}

/** How many times as long as configured each kind of reading waits, so that the quota lasts; 1: as configured. */
export interface Stretch {
  readonly live: number;
  readonly idle: number;
  readonly sweep: number;
  /** Until the reset: what is stretched waits for no longer, for behind it there is room again. */
  readonly untilMs: number;
}

export const unstretched: Stretch = { live: 1, idle: 1, sweep: 1, untilMs: 0 };

/** What idle polls and sweeps may each take of a window, whatever live polls need: they must not starve for ever. */
const floorShare = 0.05;
/** Of the limit: from there on one request at a time, so that what each answer says is exact. At least 5, at most 50. */
const aloneShare = 0.02;
/** An interval is never longer than so many times what is configured: something has to be seen of everything. */
const longestStretch = 100;

/** What is kept for imports, and was not used by them. */
function keptForImports(limit: number, reserve: number, usedImports: number): number {
  return Math.max(0, Math.ceil(limit * reserve) - usedImports);
}

/**
 * How many requests have to be left before one of this priority may be spent. Imports take all there is, live polls all
 * but what is kept for imports, idle polls what live polls will not need until the reset, sweeps what neither needs;
 * but each of these two has its floor. Pure.
 * @param reserve share of the limit that is kept for imports, 0 to 1
 * @param needs until the reset
 */
export function leastLeft(
  priority: Priority,
  quota: Pick<QuotaState, 'limit' | 'usedImports' | 'usedIdle' | 'usedSweeps'>,
  reserve: number,
  needs: Needs,
): number {
  if (quota.limit === null || priority === 'import') return 0;
  const kept = keptForImports(quota.limit, reserve, quota.usedImports);
  const floor = Math.ceil(quota.limit * floorShare);
  switch (priority) {
    case 'live':
      return kept;
    case 'idle':
      return quota.usedIdle < floor ? kept : kept + Math.ceil(needs.live);
    case 'sweep':
      return quota.usedSweeps < floor ? kept : kept + Math.ceil(needs.live + needs.idle);
    default:
      return neverRanked(priority);
  }
}

/** With so many requests left, or fewer, one is under way at a time. Pure. */
export function aloneBelow(limit: number | null): number {
  return limit === null ? 0 : Math.min(50, Math.max(5, Math.ceil(limit * aloneShare)));
}

/** Of the limit has to be free before a permit is taken that may have to be given back. */
const aheadShare = 0.1;

/**
 * Whether a permit may be taken before its request can be made. Not where the quota is short: for as long as it is held
 * it is one that others see spent, and a refusal makes them wait until the reset. Pure.
 * @param least `leastLeft`
 */
export function mayTakeAhead(
  { limit, remaining, refusals }: Pick<QuotaState, 'limit' | 'remaining' | 'refusals'>,
  least: number,
): boolean {
  if (refusals > 0) return false;
  if (limit === null) return true;
  return remaining !== null && remaining - least > Math.max(aloneBelow(limit), Math.ceil(limit * aheadShare));
}

/**
 * What is needed until the reset, of a forecast for a longer span: it is made once a minute, and a window may last no
 * longer. Without that, what a whole minute needs was held against the rest of a window that ended in a second. Pure.
 */
export function needsUntil(forecast: { readonly needs: Needs; readonly spanMs: number }, resetInMs: number): Needs {
  const share = Math.min(1, resetInMs / forecast.spanMs);
  const { live, idle, sweep } = forecast.needs;
  return { live: live * share, idle: idle * share, sweep: sweep * share };
}

/** Why a permit is refused, and for how long. */
export interface Refusal {
  /** `key`: nothing of reading may be asked with this key; `request`: this one has to wait, others may pass. */
  readonly scope: 'key' | 'request';
  readonly reason: 'used-up' | 'kept-for-imports' | 'kept-for-others' | 'one-at-a-time';
  readonly waitMs: number;
  /** After the wait one request is made to see whether a new window began: the service does not say when one does. */
  readonly probes?: true;
}

/** So often is looked whether there is room for what was put off. */
const putOffMs = 60_000;
const shortestWaitMs = 250;

/**
 * What keeps a request from being spent; null: nothing any more, it may be tried again at once. Pure.
 * @param least of `leastLeft`
 * @param probes made in a row for the same reason
 */
export function refusalOf(
  priority: Priority,
  quota: Pick<
    QuotaState,
    'limit' | 'told' | 'remaining' | 'resetInMs' | 'resetTold' | 'refusals' | 'waitMs' | 'aloneMs'
  >,
  least: number,
  probes = quota.refusals,
): Refusal | null {
  const untilReset = Math.max(shortestWaitMs, Math.ceil(quota.resetInMs));
  if (quota.waitMs > 0) return { scope: 'key', reason: 'used-up', waitMs: Math.max(shortestWaitMs, quota.waitMs) };
  const left = quota.resetInMs > 0 && quota.limit !== null ? quota.remaining : null;
  if (left !== null && left <= least) {
    const untilProbe = { waitMs: Math.min(untilReset, probeWait(probes)), probes: true } as const;
    if (left <= 0) {
      return { scope: 'key', reason: 'used-up', ...(quota.resetTold ? { waitMs: untilReset } : untilProbe) };
    }
    if (priority === 'live') {
      // A limit that was learnt comes without a word on the rest, so that the answer to a probe would say nothing.
      const waits = quota.resetTold || !quota.told ? { waitMs: untilReset } : untilProbe;
      return { scope: 'key', reason: 'kept-for-imports', ...waits };
    }
    return { scope: 'request', reason: 'kept-for-others', waitMs: Math.min(untilReset, putOffMs) };
  }
  const isAlone = quota.refusals > 0 || (left !== null && left <= aloneBelow(quota.limit));
  if (isAlone && quota.aloneMs > 0) return { scope: 'request', reason: 'one-at-a-time', waitMs: shortestWaitMs };
  return null;
}

const minuteMs = 60_000;
const longestProbeMs = 15 * minuteMs;

/**
 * How long nothing is asked after a refusal. Where the service says neither when the window ends nor how long to wait,
 * it is asked again by one request, rarer and rarer. Pure.
 * @param said.resetInMs of the headers; @param said.retryAfterMs of Retry-After, which is the later word
 * @param refusals in a row before this one
 */
export function waitAfterRefusal(
  said: { readonly resetInMs: number | null; readonly retryAfterMs: number | undefined },
  refusals: number,
): number {
  const told = said.retryAfterMs ?? said.resetInMs;
  if (told !== null && told !== undefined) return Math.max(1000, Math.ceil(told));
  return probeWait(refusals);
}

/** Where nobody says when the window ends: 1, 2, 4, 8, then every 15 minutes. Pure. */
function probeWait(probes: number): number {
  return Math.min(minuteMs * 2 ** Math.min(probes, 10), longestProbeMs);
}

/**
 * How much longer each kind of reading has to wait so that what is left lasts until the reset: sweeps give way first,
 * then idle polls, then live ones; the floors of the first two are kept. Pure.
 * @param left requests until the reset, without what is kept for imports; null: not known, nothing gives way
 * @param needs until the reset, as configured
 */
export function stretchFor(needs: Needs, left: number | null, resetInMs: number): Stretch {
  if (left === null || needs.live + needs.idle + needs.sweep <= left) return unstretched;
  const floor = Math.floor(Math.max(0, left) * floorShare);
  const sweepFloor = Math.min(needs.sweep, floor);
  const idleFloor = Math.min(needs.idle, floor);
  const live = Math.min(needs.live, left - sweepFloor - idleFloor);
  const idle = Math.min(needs.idle, left - live - sweepFloor);
  const sweep = Math.min(needs.sweep, left - live - idle);
  return {
    live: ratio(needs.live, live),
    idle: ratio(needs.idle, idle),
    sweep: ratio(needs.sweep, sweep),
    untilMs: Math.ceil(resetInMs),
  };
}

function ratio(needed: number, given: number): number {
  if (needed <= given) return 1;
  return given <= 0 ? longestStretch : Math.min(longestStretch, needed / given);
}

/** What reading may still use of this window; null: not known. Pure. */
export function leftForReading(
  quota: Pick<QuotaState, 'limit' | 'remaining' | 'usedImports'>,
  reserve: number,
): number | null {
  if (quota.limit === null || quota.remaining === null) return null;
  return Math.max(0, quota.remaining - keptForImports(quota.limit, reserve, quota.usedImports));
}

/** When what is left for reading is used up at this rate, in ms from now; null: not before the reset. Pure. */
export function lastsMs(left: number | null, needsPerHour: number, resetInMs: number): number | null {
  if (left === null || needsPerHour <= 0) return null;
  const ms = (left / needsPerHour) * 3_600_000;
  return ms >= resetInMs ? null : Math.floor(ms);
}

function neverRanked(priority: never): never {
  throw new Error(`nobody has decided what a request of priority ${String(priority)} may take`);
}
