import { performance } from 'node:perf_hooks';
import { type Priority, type QuotaState, type SpentPermit, refilled, sameWindowMs } from './quota.js';
import type { ApiError } from '../../pigeonhole/api-error.js';
import { exclusiveBelow, type Needs } from './quota-rules.js';
import type { Quota } from '../../pigeonhole/response.js';

/** This process's knowledge about an API key. */
export interface Key {
  readonly fingerprint: string;
  state: QuotaState | undefined;
  /** Instant at which `state` was read, by the monotonic clock. */
  stateAt: number;
  /** Number of requests that the service refused because the quota is used up. */
  refused: number;
  /** The number of those refusals that are not written to the ledger yet. */
  unnoted: number;
  /** Number of consecutive successes without quota headers. */
  silent: number;
  /** Instant of the first forecast, by the monotonic clock; undefined before it. */
  forecastSince: number | undefined;
  /** Number of requests needed for reading within `spanMs` from `at`. */
  needs: { readonly at: number; readonly spanMs: number; readonly value: Promise<Needs> } | undefined;
  /** Resolves when this process's exclusive request has ended; undefined if there is none. */
  exclusive: Promise<void> | undefined;
  /**
   * Number of consecutive requests for reading that used what is kept for others, to find out whether a new window has
   * started.
   */
  probes: number;
  /** Instant of the next probe, by the monotonic clock; null if none is due. */
  probeAt: number | null;
}

/** A spent permit whose request is in progress. */
export interface Held extends SpentPermit {
  /** Number of consecutive refusals before the permit was taken. */
  readonly refusals: number;
  /** Call it when the request has ended: it lets other requests of this process pass if this one was exclusive. */
  readonly release: () => void;
}

/** Permits that were taken together for the requests of one poll (`ServiceGate.permits`). */
export class Permits {
  /**
   * @param refused `key.refused` when they were taken
   * @param left number of permits that no request has taken yet
   * @param giveBack returns this number of unused permits to the quota
   */
  constructor(
    private readonly key: Key,
    private readonly spent: SpentPermit,
    private readonly refused: number,
    private left: number,
    private readonly giveBack: (spent: SpentPermit, requests: number) => Promise<void>,
  ) {}

  /**
   * Returns the permit of one request. Returns undefined if none is left, if they belong to another key or priority, or
   * if the service has refused a request since they were taken: the request then takes a permit of its own.
   */
  take(key: Key, priority: Priority): Held | undefined {
    if (this.left === 0 || key !== this.key || priority !== this.spent.priority) return undefined;
    if (key.refused !== this.refused) return undefined;
    this.left -= 1;
    return { ...this.spent, refusals: 0, release: () => undefined };
  }

  /** Returns the unused permits to the quota. Must be called when the poll has ended, also after an error. */
  async end(): Promise<void> {
    const unused = this.left;
    this.left = 0;
    if (unused > 0) await this.giveBack(this.spent, unused);
  }
}

export function unknownKey(fingerprint: string): Key {
  return {
    fingerprint,
    state: undefined,
    stateAt: 0,
    refused: 0,
    unnoted: 0,
    silent: 0,
    forecastSince: undefined,
    needs: undefined,
    exclusive: undefined,
    probes: 0,
    probeAt: null,
  };
}

/** Replaces this process's knowledge about the key with a state that was just read from the ledger. */
export function learn(key: Key, state: QuotaState): QuotaState {
  key.state = state;
  key.stateAt = performance.now();
  return state;
}

/**
 * Returns the permit that a request holds while it is in progress. A probe is exclusive, and so is a request when few
 * requests remain: until `release`, `key.exclusive` tells the other requests of this process to wait.
 */
export function hold(key: Key, priority: Priority, state: QuotaState): Held {
  const probe = state.refusals > 0;
  const exclusive = probe || (state.remaining !== null && state.remaining + 1 <= exclusiveBelow(state.limit));
  let release = (): void => undefined;
  if (exclusive) {
    const done = new Promise<void>((resolve) => {
      release = () => {
        if (key.exclusive === done) key.exclusive = undefined;
        resolve();
      };
    });
    key.exclusive = done;
  }
  return { priority, window: state.window, refusals: state.refusals, probe, exclusive, release: () => release() };
}

/** Whether the service counted a failed request. A request that never reached the service was not counted. */
export function wasCounted({ kind, status, mayHaveTakenEffect }: ApiError): boolean | 'unsure' {
  if (kind === 'throttled' || kind === 'credential') return false;
  if (status !== null) return true;
  return mayHaveTakenEffect ? 'unsure' : false;
}

/**
 * Whether a response reports something about the quota that the ledger does not know. Only such a response is written
 * to the ledger, because most responses merely confirm the count. Pure.
 * @param known the last state read from the ledger; @param ageMs its age
 */
export function updatesQuota(known: QuotaState | undefined, ageMs: number, reported: Quota | null): boolean {
  if (reported === null) return false;
  if (known === undefined) return true;
  if (reported.limit !== null && (reported.limit !== known.limit || !known.limitReported)) return true;
  if (reported.remaining !== null && (known.remaining === null || reported.remaining < known.remaining)) return true;
  if (reported.resetInMs === null) return !known.resetReported && hasRisen(known, reported.remaining);
  return !known.resetReported || Math.abs(reported.resetInMs - (known.resetInMs - ageMs)) > sameWindowMs;
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
