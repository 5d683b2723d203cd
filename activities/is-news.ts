import type { QuotaState } from '../ledger/queries/quota.js';
import type { Quota } from '../pigeonhole/quota.js';

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
  if (said.resetInMs === null) return false;
  return !known.resetTold || Math.abs(said.resetInMs - (known.resetInMs - ageMs)) > sameResetMs;
}
