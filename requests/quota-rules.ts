import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { firstAskMs, longestAskMs, type Priority, type QuotaState } from './quota.js';

/** The number of requests that reading needs, by priority. */
export interface Needs {
  readonly live: number;
  readonly idle: number;
  readonly sweep: number;
}

/**
 * Returns the number of requests needed to read these workspaces within each span from now, if nothing changes in them.
 */
export type Forecast = (
  given: { readonly ledger: Ledger; readonly config: Config },
  workspaces: readonly string[],
  spansMs: readonly number[],
  now: number,
) => Promise<Needs[]>;

/** Factors by which intervals are lengthened so that the quota lasts until its reset; 1: as configured. */
export interface Stretch {
  readonly live: number;
  readonly idle: number;
  readonly sweep: number;
  /** Ms until the reset. No interval is lengthened beyond it, because a new window starts then. */
  readonly untilMs: number;
}

export const unstretched: Stretch = { live: 1, idle: 1, sweep: 1, untilMs: 0 };

/**
 * Share of a window's requests that idle polls and sweeps may each use, even if live polls need all requests, so that
 * neither ever stops.
 */
const floorShare = 0.05;
/** Maximum factor for an interval, so that every list is still read now and then. */
const longestStretch = 100;

/** Returns the share of the quota that is reserved for imports in this workspace. */
export function reserveOf(config: Config, workspace: string): number {
  return config.workspaces[workspace]!.quota.reserve;
}

/** Returns the part of the imports' reserve that imports have not used. */
function keptForImports(limit: number, reserve: number, usedImports: number): number {
  return Math.max(0, Math.ceil(limit * reserve) - usedImports);
}

/**
 * Returns the number of requests that must remain after a request of this priority. Imports may use everything. Live
 * polls may use everything except the imports' reserve, idle polls only what live polls do not need until the reset,
 * and sweeps only what neither needs. But idle polls and sweeps may each use at least `floorShare`. Pure.
 * @param reserve share of the limit that is reserved for imports, 0 to 1
 * @param needs requests needed until the reset
 */
export function minRemaining(
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
  }
}

/**
 * Returns the part of a forecast that falls before the reset. A forecast is made once a minute and may span more than
 * the rest of a short window. Pure.
 */
export function needsUntil(forecast: { readonly needs: Needs; readonly spanMs: number }, resetInMs: number): Needs {
  const share = Math.min(1, resetInMs / forecast.spanMs);
  const { live, idle, sweep } = forecast.needs;
  return { live: live * share, idle: idle * share, sweep: sweep * share };
}

/** The reason why a permit is refused, and how long the request has to wait. */
export interface Refusal {
  /** `key`: no reading request with this key may pass; `request`: only this one has to wait. */
  readonly scope: 'key' | 'request';
  readonly reason: 'used-up' | 'kept-for-imports' | 'kept-for-others';
  readonly waitMs: number;
  /** True if a request that asks has to be planned after this wait, because nothing else ends it. */
  readonly plansAsk: boolean;
}

/** Maximum time for which a request is postponed whose share others need, because their needs may change. */
const putOffMs = 60_000;
const shortestWaitMs = 250;

/**
 * Returns why a request gets no permit; null if nothing prevents it any longer, so that the caller can try again
 * immediately. Pure.
 * @param atLeast.mustRemain from `minRemaining`; atLeast.reserved the same for a live poll: below it, nothing is read
 */
export function refusalOf(
  { remaining: left, resetInMs, askInMs, asks }: Pick<QuotaState, 'remaining' | 'resetInMs' | 'askInMs' | 'asks'>,
  { mustRemain, reserved }: { readonly mustRemain: number; readonly reserved: number },
): Refusal | null {
  if (left === null || left > mustRemain || askInMs === 0) return null;
  const plansAsk = resetInMs === null && askInMs === null;
  const ends = [resetInMs, askInMs].filter((ms) => ms !== null);
  const waitMs = Math.max(shortestWaitMs, Math.ceil(plansAsk ? askWait(asks) : Math.min(...ends)));
  if (left <= 0) return { scope: 'key', reason: 'used-up', waitMs, plansAsk };
  if (left <= reserved) return { scope: 'key', reason: 'kept-for-imports', waitMs, plansAsk };
  return { scope: 'request', reason: 'kept-for-others', waitMs: Math.min(waitMs, putOffMs), plansAsk };
}

/**
 * Returns the ms for which no request is made after a refusal: what `Retry-After` says, or else until the reported
 * reset. If the service reports neither, or refuses again although that time has passed, one request asks after a wait
 * that doubles. Pure.
 * @param reported reset from the quota headers, and wait from `Retry-After`, which takes precedence
 * @param asks consecutive refusals and asking requests before this one
 */
export function waitAfterRefusal(
  reported: { readonly resetInMs: number | null; readonly retryAfterMs: number | undefined },
  asks: number,
): { readonly waitMs: number; readonly untilReset: boolean } {
  const reportedMs = reported.retryAfterMs ?? reported.resetInMs;
  if (reportedMs === null || (reportedMs <= 0 && asks > 0)) return { waitMs: askWait(asks), untilReset: false };
  const waitMs = Math.max(1000, Math.ceil(reportedMs));
  return { waitMs, untilReset: reported.retryAfterMs === undefined && reportedMs > 0 };
}

/** Returns the wait before the next request that asks: 1, 2, 4, 8, then 15 min. Pure. */
function askWait(asks: number): number {
  return Math.min(firstAskMs * 2 ** Math.min(asks, 10), longestAskMs);
}

/**
 * Returns the factors by which intervals are lengthened so that the remaining requests last until the reset. Sweeps are
 * the first to be lengthened, idle polls the next, and live polls the last. Sweeps and idle polls keep `floorShare`.
 * Pure.
 * @param left requests that remain until the reset, not counting the imports' reserve; null: not known, so nothing is
 * lengthened
 * @param needs requests needed until the reset, at the configured intervals
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

/** Returns the requests that reading still makes after its intervals were lengthened by these factors. Pure. */
export function askedWith(needs: Needs, stretch: Stretch): Needs {
  return { live: needs.live / stretch.live, idle: needs.idle / stretch.idle, sweep: needs.sweep / stretch.sweep };
}

function ratio(needed: number, given: number): number {
  if (needed <= given) return 1;
  return given <= 0 ? longestStretch : Math.min(longestStretch, needed / given);
}

/** Returns the requests that reading may still use in this window; null if not known. Pure. */
export function leftForReading(
  quota: Pick<QuotaState, 'limit' | 'remaining' | 'usedImports'>,
  reserve: number,
): number | null {
  if (quota.limit === null || quota.remaining === null) return null;
  return Math.max(0, quota.remaining - keptForImports(quota.limit, reserve, quota.usedImports));
}

/** Share of the window that counts as all of it: the factors are chosen so that the quota just lasts. */
const wholeWindow = 0.99;

/**
 * Returns the time in ms until reading has used up its requests; null if they last until the reset. Pure.
 * @param asked requests that reading makes until the reset
 */
export function lastsMs(left: number | null, asked: number, resetInMs: number): number | null {
  if (left === null || asked <= 0) return null;
  const ms = (left / asked) * resetInMs;
  return ms >= wholeWindow * resetInMs ? null : Math.floor(ms);
}

const reasons: Readonly<Record<Refusal['reason'], string>> = {
  'used-up': 'the request quota of this key is used up',
  'kept-for-imports': 'the rest of the request quota is reserved for imports',
  'kept-for-others': 'the rest of the request quota is needed for requests of higher priority',
};

/**
 * Thrown instead of making a request when the quota has no permit for it now. This is a wait and not a failure:
 * `judgeFailure` decides whether only the request waits, or the whole workspace.
 */
export class PermitRefusal extends Error {
  override readonly name = 'PermitRefusal';
  readonly scope: Refusal['scope'];
  readonly reason: Refusal['reason'];
  readonly waitMs: number;

  constructor({ scope, reason, waitMs }: Omit<Refusal, 'plansAsk'>) {
    super(`${reasons[reason]}: waiting ${Math.ceil(waitMs / 1000)} s`);
    this.scope = scope;
    this.reason = reason;
    this.waitMs = waitMs;
  }
}
