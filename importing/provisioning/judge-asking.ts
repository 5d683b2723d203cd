import type { ApiError } from '../../pigeonhole/api-error.js';
import { PermitRefusal } from '../../work/asking/permit-refusal.js';

/** What a request that brought nothing about means for the whole event. */
export type Hindrance =
  /** It passes by itself: asked again then, it goes on. */
  | {
      readonly kind: 'wait';
      readonly why: 'quota' | 'throttled' | 'unreachable' | 'stopping';
      readonly waitMs: number;
      readonly detail: string;
    }
  /** A person has to do something first. */
  | { readonly kind: 'stop'; readonly why: 'credential' | 'refused' | 'paused'; readonly detail: string };

/** Pure. @param now epoch ms */
export function judgeAsking(error: ApiError | PermitRefusal, now: number): Hindrance {
  const detail = error.message;
  if (error instanceof PermitRefusal) return { kind: 'wait', why: 'quota', waitMs: error.waitMs, detail };
  const told =
    error.retryAfterMs ?? (error.resetAtMs === undefined ? undefined : Math.max(1000, error.resetAtMs - now));
  switch (error.kind) {
    case 'quota':
      return { kind: 'wait', why: 'quota', waitMs: told ?? 60_000, detail };
    case 'throttled':
      return { kind: 'wait', why: 'throttled', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'transient':
      return { kind: 'wait', why: 'unreachable', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'aborted':
      return { kind: 'wait', why: 'stopping', waitMs: 1000, detail };
    case 'credential':
      return { kind: 'stop', why: 'credential', detail };
    default:
      return { kind: 'stop', why: 'refused', detail };
  }
}
