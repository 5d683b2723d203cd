import { ApiError, type ApiErrorKind } from '../pigeonhole/api-error.js';
import { PermitRefusal } from './quota-rules.js';
import { pause } from '../ledger/pauses.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';

/** Consequence of a failed request to the service. */
export type Verdict =
  /** Every request of the workspace would fail now. */
  | { readonly affects: 'workspace'; readonly reason: 'quota' | 'throttled' | 'credential'; readonly waitMs: number }
  /**
   * Only the stream waits. `neverEnds`: the service refuses each cursor before a walk over the list ends, so the next
   * walk starts at the first page.
   */
  | { readonly affects: 'stream'; readonly waitMs: number; readonly neverEnds?: true }
  /** The quota has no permit for this request now. It is postponed; other requests may pass. */
  | { readonly affects: 'request'; readonly waitMs: number }
  /**
   * The request's cursor may be at fault: read the first page. If that succeeds, discard the cursor and walk the list
   * again. Otherwise, judge the failure of that request instead.
   */
  | { readonly affects: 'cursor' }
  /** The attempt was cancelled. */
  | { readonly affects: 'nothing' };

const secondMs = 1000;
const minuteMs = 60 * secondMs;

/** The history of the cursor of a failed request. */
export interface CursorHistory {
  /** Number of consecutive failures with this cursor before this one. */
  readonly failures: number;
  /** Number of cursors discarded since the list was last read to its end. */
  readonly discarded: number;
  /** The number of those that were discarded in this cycle. */
  readonly discardedNow: number;
}

/** Facts about the requests before the failed one. */
export interface Before {
  /** Number of consecutive failures of this stream. */
  readonly streamFailures: number;
  /** Number of consecutive waits of this workspace for the same reason. */
  readonly workspaceWaits: number;
  /** Null: the request had no cursor, or nothing is known about the service without one because it is down. */
  readonly cursor: CursorHistory | null;
}

/** Whether `judgeFailure` decides about this error. Any other error is a defect or a failure of the store, and is rethrown. */
export function isRequestFailure(error: unknown): error is ApiError | PermitRefusal {
  return error instanceof ApiError || error instanceof PermitRefusal;
}

/**
 * Decides what a failed request means and how long to wait. This is the only place that decides. A wait is a result and
 * not a failure, so that a workflow's timer waits and no activity attempt is used.
 * Every wait is at least half a second, and grows with the trouble: after trouble of 25 s, the next request
 * follows within a minute, whatever the service answered.
 * @param now epoch ms; random 0 to 1, for jitter
 */
export function judgeFailure(
  error: ApiError | PermitRefusal,
  before: Before,
  { now, random }: { now: number; random: number },
): Verdict {
  if (error instanceof PermitRefusal) {
    const { scope, waitMs } = error;
    return scope === 'key' ? { affects: 'workspace', reason: 'quota', waitMs } : { affects: 'request', waitMs };
  }
  const { kind } = error;
  if (before.cursor !== null && isSuspect(kind, before.cursor)) return { affects: 'cursor' };
  const waitOf = (maxMs: number, failures = before.streamFailures): number => backoff(failures, random, maxMs);
  switch (kind) {
    case 'quota':
      return { affects: 'workspace', reason: kind, waitMs: untilReset(error, now) ?? minuteMs };
    case 'throttled':
      return {
        affects: 'workspace',
        reason: kind,
        waitMs: error.retryAfterMs ?? waitOf(throttledMs, before.workspaceWaits),
      };
    case 'credential': // the interval doubles: a refused key seldom becomes valid again
      return {
        affects: 'workspace',
        reason: kind,
        waitMs: Math.min(30_000 * 2 ** before.workspaceWaits, 15 * minuteMs),
      };
    case 'transient':
      return { affects: 'stream', waitMs: error.retryAfterMs ?? waitOf(5 * minuteMs) };
    case 'pigeonholeNotFound':
    case 'sessionNotFound':
      return { affects: 'stream', waitMs: waitOf(minuteMs) };
    case 'protocol':
      return { affects: 'stream', waitMs: waitOf(5 * minuteMs, before.streamFailures + 4) };
    case 'invalidParameter':
    case 'notFound':
    case 'invalid':
    case 'malformed':
    case 'unsupported':
    case 'registrantsOff':
    case 'profilesOff': {
      if (before.cursor === null) return { affects: 'stream', waitMs: waitOf(15 * minuteMs) };
      // This cycle has discarded as many cursors as it may.
      return { affects: 'stream', waitMs: waitOf(walkAgainMs, before.cursor.discarded), neverEnds: true };
    }
    case 'aborted':
      return { affects: 'nothing' };
  }
}

/** Maximum wait after a throttled request if the service requests no wait that can be read. */
const throttledMs = 30 * secondMs;
/** Maximum wait until a list is walked again in which the service refuses each cursor before the walk ends. */
const walkAgainMs = 20 * secondMs;
/**
 * Maximum number of cursors that one cycle discards. The next walk starts immediately, because right after a change has
 * made all cursors invalid, the time until the next change is longest.
 */
const maxDiscardedNow = 3;
/** Number of consecutive failures after which a cursor is under suspicion if the failure may pass. */
const suspectAfter = 3;

/** Kinds that say nothing about a cursor: every request would fail like that. */
const neverSuspect: ReadonlySet<ApiErrorKind> = new Set(['quota', 'throttled', 'credential', 'aborted']);
/** Kinds that may pass, so that a repetition with the same cursor may succeed. */
const mayPass: ReadonlySet<ApiErrorKind> = new Set(['transient', 'protocol']);

/**
 * Whether a failed request puts its cursor under suspicion, whatever its code: the service may no longer know the
 * cursor, for example after a restart. If the failure may pass, only repeated failures do, and twice as many after each
 * discarded cursor: a page that the service can never produce must not cause one walk after the other. Pure.
 */
function isSuspect(kind: ApiErrorKind, { failures, discarded, discardedNow }: CursorHistory): boolean {
  if (neverSuspect.has(kind)) return false;
  if (mayPass.has(kind)) return failures + 1 >= suspectAfter * 2 ** Math.min(discarded, 10);
  return discardedNow < maxDiscardedNow;
}

/** Number of consecutive transient errors that are not logged, because single ones are common and mostly pass. */
const maxUnlogged = 3;

/**
 * Whether a stream's failure is worth a log line: once per series of failures, and not while the whole service is down,
 * which has a line of its own. `status` shows every failure. Pure.
 * @param streamFailures consecutive failures before this one
 */
export function isWorthLogging(kind: ApiErrorKind, streamFailures: number, isDown: boolean): boolean {
  return kind === 'transient' ? streamFailures === maxUnlogged && !isDown : streamFailures === 0;
}

/** Whether the end of a series of failures is worth a log line. Pure. @param wasDown the whole service was down recently */
export function isEndWorthLogging(streamFailures: number, wasDown: boolean): boolean {
  return streamFailures > maxUnlogged && !wasDown;
}

/**
 * Returns a random wait between half of its maximum and the maximum, which is 1 s and doubles with each consecutive
 * failure up to `longestMs`. The lower bound keeps the waits in proportion to the trouble: if waits could be as short
 * as none, failures would be counted within seconds for which the next wait is minutes.
 */
export function backoff(failures: number, random: number, longestMs = 5 * minuteMs): number {
  const maxMs = Math.min(secondMs * 2 ** Math.min(failures, 20), longestMs);
  return Math.ceil((maxMs * (1 + random)) / 2);
}

function untilReset(error: ApiError, now: number): number | undefined {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  return error.resetAtMs === undefined ? undefined : Math.max(1000, error.resetAtMs - now);
}

/**
 * Pauses a workspace whose API key the service refused. The pause ends when the key is replaced, or when the service
 * accepts it again.
 */
export async function pauseForKey(
  deps: { readonly config: Config; readonly ledger: Ledger },
  workspace: string,
  detail: string,
): Promise<void> {
  const key = deps.config.workspaces[workspace]!.apiKey.reveal();
  await pause(deps.ledger, {
    scope: 'workspace',
    name: workspace,
    pausedBy: 'cause',
    cause: 'credential',
    detail,
    fingerprint: deps.ledger.hash.fingerprint(key),
  });
}
