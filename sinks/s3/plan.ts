import { changeJson } from '../change.js';
import type { Operation, Subject } from '../sink.js';

export interface S3Operation extends Operation {
  /** `<list>/<YYYY-MM-DD>`: the UTC day on which the change was found. */
  readonly partition: string;
  /** Unix time in ms at which the change was found. */
  readonly foundAtMs: number;
  /** The change envelope, without a trailing newline. */
  readonly line: string;
}

export function toS3Operation({ change, dataJson }: Subject): S3Operation {
  return {
    changeId: change.id,
    partition: `${change.list}/${change.timestamp.slice(0, 'YYYY-MM-DD'.length)}`,
    foundAtMs: Date.parse(change.timestamp),
    line: changeJson(change, dataJson),
  };
}

/** Whether a partition can be part of an object's name. */
export function isSafePartition(partition: string): boolean {
  return /^[a-z][a-z0-9_-]*\/\d{4}-\d{2}-\d{2}$/.test(partition);
}

/**
 * Returns how long a small batch is deferred, so that more changes share its objects; undefined if it is written now.
 * Windows of `maxAgeMs` are aligned with the clock, so that all changes of a window are due together. A change from
 * before the current window is due. So is a change from the future: the clocks differ, so the wait could be long.
 */
export function deferralMs(
  operations: readonly S3Operation[],
  { maxAgeMs, maxLines, nowMs }: { readonly maxAgeMs: number; readonly maxLines: number; readonly nowMs: number },
): number | undefined {
  if (operations.length >= maxLines) return undefined;
  const windowStartMs = Math.floor(nowMs / maxAgeMs) * maxAgeMs;
  const isDue = operations.some(
    ({ foundAtMs }) => !(foundAtMs >= windowStartMs && foundAtMs <= nowMs + maxAgeMs), // an unreadable instant is due
  );
  return isDue || operations.length === 0 ? undefined : windowStartMs + maxAgeMs - nowMs;
}
