import { ApiError, type ApiErrorKind } from '../pigeonhole/api-error.js';
import { PermitRefusal } from './asking/permit-refusal.js';

/** What an activity does about an API error. */
export type Verdict =
  /** Nothing of the workspace would pass. */
  | { readonly who: 'workspace'; readonly reason: 'quota' | 'throttled' | 'credential'; readonly waitMs: number }
  /** This stream alone waits, the others go on. */
  | { readonly who: 'stream'; readonly waitMs: number }
  /** The quota has no room for this request now. Nothing failed: it is put off, other requests may pass. */
  | { readonly who: 'request'; readonly waitMs: number }
  /** The stored cursor leads nowhere: the walk starts again at the first page. */
  | { readonly who: 'walk' }
  /** The attempt was told to stop. */
  | { readonly who: 'nobody' };

const minuteMs = 60_000;

/** What is no defect and no failure of the store: what `judgeFailure` decides about. Anything else is thrown on. */
export function isToBeJudged(error: unknown): error is ApiError | PermitRefusal {
  return error instanceof ApiError || error instanceof PermitRefusal;
}

/**
 * The only place that decides. States to wait through are results and not failures, so that a workflow's timer waits
 * and no attempt is used. Source: design, "Quota".
 * @param before how often in a row this stream has failed, or this workspace has waited for the same reason
 * @param now epoch ms; random 0 to 1, for full jitter
 */
export function judgeFailure(
  error: ApiError | PermitRefusal,
  before: { streamFailures: number; workspaceWaits: number; atCursor: boolean },
  { now, random }: { now: number; random: number },
): Verdict {
  if (error instanceof PermitRefusal) {
    const { scope, waitMs } = error;
    return scope === 'key' ? { who: 'workspace', reason: 'quota', waitMs } : { who: 'request', waitMs };
  }
  const { kind } = error;
  switch (kind) {
    case 'quota':
      return { who: 'workspace', reason: kind, waitMs: untilReset(error, now) ?? minuteMs };
    case 'throttled':
      return {
        who: 'workspace',
        reason: kind,
        waitMs: error.retryAfterMs ?? fullJitter(before.workspaceWaits, random),
      };
    case 'credential': // asked again rarer and rarer: a key does not mend itself
      return { who: 'workspace', reason: kind, waitMs: Math.min(30_000 * 2 ** before.workspaceWaits, 15 * minuteMs) };
    case 'invalidParameter':
    case 'notFound':
      return before.atCursor ? { who: 'walk' } : { who: 'stream', waitMs: 5 * minuteMs };
    case 'transient':
      return { who: 'stream', waitMs: error.retryAfterMs ?? fullJitter(before.streamFailures, random) };
    case 'pigeonholeNotFound':
    case 'sessionNotFound':
    case 'protocol':
      return { who: 'stream', waitMs: fullJitter(before.streamFailures + 4, random) };
    case 'invalid':
    case 'malformed':
    case 'unsupported':
    case 'registrantsOff':
    case 'profilesOff':
      return { who: 'stream', waitMs: 15 * minuteMs };
    case 'aborted':
      return { who: 'nobody' };
    default:
      return neverDecided(kind);
  }
}

/** Single answers that say something is wrong over there are common, and mostly pass: only the fourth in a row is told. */
const hiccups = 3;

/**
 * Whether a stream that could not be read is worth a line of the log: once, and not while the whole service is down,
 * which is told by itself. `status` shows the rest. Pure.
 * @param streamFailures in a row before this one
 */
export function isWorthALine(kind: ApiErrorKind, streamFailures: number, isDown: boolean): boolean {
  return kind === 'transient' ? streamFailures === hiccups && !isDown : streamFailures === 0;
}

/** Whether the end of so many failures in a row is worth a line. Pure. @param wasDown the whole service, just before */
export function isEndWorthALine(streamFailures: number, wasDown: boolean): boolean {
  return streamFailures > hiccups && !wasDown;
}

/** A second doubled with every failure in a row, five minutes at most, and any part of it. */
export function fullJitter(failures: number, random: number): number {
  const most = Math.min(1000 * 2 ** Math.min(failures, 20), 5 * minuteMs);
  return Math.ceil(Math.max(250, most * random));
}

function untilReset(error: ApiError, now: number): number | undefined {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  return error.resetAtMs === undefined ? undefined : Math.max(1000, error.resetAtMs - now);
}

function neverDecided(kind: never): never {
  throw new Error(`nobody has decided what an ApiError of kind ${String(kind satisfies ApiErrorKind)} means`);
}
