import { type QuotaState, refilled } from './quota.js';
import type { Quota } from '../../pigeonhole/response-headers.js';

/** Resets told in whole seconds differ by as much. */
const sameResetMs = 5000;

/**
 * Whether an answer says of the quota what the ledger does not know: only then it is written. Mostly it says what we
 * counted. Pure.
 * @param known as the ledger said last; @param ageMs how long ago that was
 */
export function isNews(known: QuotaState | undefined, ageMs: number, said: Quota | null): boolean {
  if (said === null) return false;
  if (known === undefined) return true;
  if (said.limit !== null && (said.limit !== known.limit || !known.told)) return true;
  if (said.remaining !== null && (known.remaining === null || said.remaining < known.remaining)) return true;
  if (said.resetInMs === null) return !known.resetTold && hasRisen(known, said.remaining);
  return !known.resetTold || Math.abs(said.resetInMs - (known.resetInMs - ageMs)) > sameResetMs;
}

/** Where no reset is told, this is how another window is known. */
function hasRisen({ limit, remaining: left }: QuotaState, said: number | null): boolean {
  if (said === null || left === null) return false;
  return said > left + Math.max(refilled.atLeast, (limit ?? 0) / refilled.partOfLimit);
}
