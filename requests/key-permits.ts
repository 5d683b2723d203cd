import { performance } from 'node:perf_hooks';
import { type Priority, type QuotaState, refilled, sameWindowMs, type SpentPermit } from './quota.js';
import type { ApiError } from '../pigeonhole/api-error.js';
import type { Quota } from '../pigeonhole/response.js';

/** This process's knowledge about an API key. */
export interface Key {
  readonly fingerprint: string;
  state: QuotaState | undefined;
  /** Instant at which `state` was read, by the monotonic clock. */
  stateAt: number;
  /** Resolves when this process's request that asks has ended; undefined if there is none. */
  asking: Promise<void> | undefined;
}

export function unknownKey(fingerprint: string): Key {
  return { fingerprint, state: undefined, stateAt: 0, asking: undefined };
}

/**
 * Notes a state that was just read from the ledger. Statements of a process may overtake each other, so one from an
 * earlier window is ignored.
 */
export function learn(key: Key, state: QuotaState): QuotaState {
  if (key.state !== undefined && state.window < key.state.window) return key.state;
  key.state = state;
  key.stateAt = performance.now();
  return state;
}

/** Whether a permit may still be used: no window has started and no request was refused since it was taken. */
export function isCurrent(key: Key, permit: SpentPermit): boolean {
  return key.state?.window === permit.window;
}

/** Permits that were taken together for the requests of one poll (`ServiceGate.permits`). */
export class Permits {
  /**
   * @param left number of permits that no request has taken yet
   * @param giveBack returns this number of unused permits to the quota
   */
  constructor(
    private readonly key: Key,
    private readonly permit: SpentPermit,
    private left: number,
    private readonly giveBack: (permit: SpentPermit, count: number) => Promise<void>,
  ) {}

  /** True if no permit is left. */
  get isEmpty(): boolean {
    return this.left === 0;
  }

  /**
   * Returns the permit of one request. Returns undefined if none is left, if they belong to another key or priority, or
   * if they are no longer current: the request then takes a permit of its own.
   */
  take(key: Key, priority: Priority): SpentPermit | undefined {
    if (this.left === 0 || key !== this.key || priority !== this.permit.priority) return undefined;
    if (!isCurrent(key, this.permit)) return undefined;
    this.left -= 1;
    return this.permit;
  }

  /** Returns the unused permits to the quota. Must be called when the poll has ended, also after an error. */
  async end(): Promise<void> {
    const unused = this.left;
    this.left = 0;
    if (unused > 0) await this.giveBack(this.permit, unused);
  }
}

/** Whether the service certainly did not count a failed request. */
export function isUncounted({ kind, status, mayHaveTakenEffect }: ApiError): boolean {
  return kind === 'throttled' || kind === 'credential' || (status === null && !mayHaveTakenEffect);
}

/**
 * Whether a response reports something about the quota that the ledger does not know. Only such a response is written
 * to the ledger, because most responses merely confirm the count. Pure.
 * @param known the last state read from the ledger; @param ageMs its age
 */
export function updatesQuota(known: QuotaState | undefined, ageMs: number, reported: Quota | null): boolean {
  if (reported === null) return false;
  if (known === undefined) return true;
  if (reported.limit !== null && reported.limit !== known.limit) return true;
  if (reported.remaining !== null && (known.remaining === null || reported.remaining < known.remaining)) return true;
  if (reported.resetInMs === null) return known.resetInMs === null && hasRisen(known, reported.remaining);
  return known.resetInMs === null || Math.abs(reported.resetInMs - (known.resetInMs - ageMs)) > sameWindowMs;
}

/**
 * Whether the service reports clearly more remaining requests than the ledger knows. If it reports no reset, this is
 * the only sign of a new window.
 */
function hasRisen({ limit, remaining: left }: QuotaState, reported: number | null): boolean {
  if (reported === null || left === null) return false;
  return reported > left + Math.max(refilled.atLeast, (limit ?? 0) / refilled.partOfLimit);
}

/**
 * Whether the quota has grown: the service reports a larger limit, or a window that started before the known one was
 * over. A window that starts on time is no growth, because no interval is lengthened beyond its start. Pure.
 * @param before the last state read from the ledger
 */
export function hasGrown(before: QuotaState | undefined, after: QuotaState): boolean {
  if (before === undefined || before.limit === null) return false;
  return after.window > before.window || after.limit === null || after.limit > before.limit;
}
