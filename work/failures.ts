import { ApiError, type ApiErrorKind } from '../pigeonhole/api-error.js';
import { PermitRefusal } from './requests/quota-rules.js';
import { pause } from '../ledger/pauses.js';
import type { Collaborators } from './collaborators.js';

/** Consequence of a failed request to the service. */
export type Verdict =
  /** Every request of the workspace would fail now. */
  | { readonly affects: 'workspace'; readonly reason: 'quota' | 'throttled' | 'credential'; readonly waitMs: number }
  /** Only the stream waits. */
  | { readonly affects: 'stream'; readonly waitMs: number }
  /** The quota has no permit for this request now. It is postponed; other requests may pass. */
  | { readonly affects: 'request'; readonly waitMs: number }
  /** The service refused the stored cursor: the walk starts again at the first page. */
  | { readonly affects: 'walk' }
  /** The attempt was cancelled. */
  | { readonly affects: 'nothing' };

const minuteMs = 60_000;

/** Whether `judgeFailure` decides about this error. Any other error is a defect or a failure of the store, and is rethrown. */
export function isRequestFailure(error: unknown): error is ApiError | PermitRefusal {
  return error instanceof ApiError || error instanceof PermitRefusal;
}

/**
 * Decides what a failed request means and how long to wait. This is the only place that decides. A wait is a result and
 * not a failure, so that a workflow's timer waits and no activity attempt is used.
 * @param before consecutive failures of this stream, consecutive waits of this workspace for the same reason, and
 * whether the request used a cursor and the walk may start again at the first page (`atCursor`)
 * @param now epoch ms; random 0 to 1, for full jitter
 */
export function judgeFailure(
  error: ApiError | PermitRefusal,
  before: { streamFailures: number; workspaceWaits: number; atCursor: boolean },
  { now, random }: { now: number; random: number },
): Verdict {
  if (error instanceof PermitRefusal) {
    const { scope, waitMs } = error;
    return scope === 'key' ? { affects: 'workspace', reason: 'quota', waitMs } : { affects: 'request', waitMs };
  }
  const { kind } = error;
  switch (kind) {
    case 'quota':
      return { affects: 'workspace', reason: kind, waitMs: untilReset(error, now) ?? minuteMs };
    case 'throttled':
      return {
        affects: 'workspace',
        reason: kind,
        waitMs: error.retryAfterMs ?? fullJitter(before.workspaceWaits, random),
      };
    case 'credential': // the interval doubles: a refused key seldom becomes valid again
      return {
        affects: 'workspace',
        reason: kind,
        waitMs: Math.min(30_000 * 2 ** before.workspaceWaits, 15 * minuteMs),
      };
    case 'invalidParameter':
    case 'notFound':
      return before.atCursor ? { affects: 'walk' } : { affects: 'stream', waitMs: 5 * minuteMs };
    case 'transient':
      return { affects: 'stream', waitMs: error.retryAfterMs ?? fullJitter(before.streamFailures, random) };
    case 'pigeonholeNotFound':
    case 'sessionNotFound':
    case 'protocol':
      return { affects: 'stream', waitMs: fullJitter(before.streamFailures + 4, random) };
    case 'invalid':
    case 'malformed':
    case 'unsupported':
    case 'registrantsOff':
    case 'profilesOff':
      return { affects: 'stream', waitMs: 15 * minuteMs };
    case 'aborted':
      return { affects: 'nothing' };
  }
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

/** Returns a random wait of at least 250 ms. Its maximum is 1 s, and doubles with each consecutive failure up to 5 min. */
export function fullJitter(failures: number, random: number): number {
  const maxMs = Math.min(1000 * 2 ** Math.min(failures, 20), 5 * minuteMs);
  return Math.ceil(Math.max(250, maxMs * random));
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
  deps: Pick<Collaborators, 'config' | 'ledger'>,
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
