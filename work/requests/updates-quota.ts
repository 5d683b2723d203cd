import { type QuotaState, refilled } from './quota.js';
import type { Quota } from '../../pigeonhole/response-headers.js';

/** Resets reported in whole seconds can differ by this much. */
const sameResetMs = 5000;

/**
 * Whether a response reports something about the quota that the ledger does not know. Only then is it written: most
 * responses confirm the count. Pure.
 * @param known the last state read from the ledger; @param ageMs its age
 */
export function updatesQuota(known: QuotaState | undefined, ageMs: number, reported: Quota | null): boolean {
  if (reported === null) return false;
  if (known === undefined) return true;
  if (reported.limit !== null && (reported.limit !== known.limit || !known.told)) return true;
  if (reported.remaining !== null && (known.remaining === null || reported.remaining < known.remaining)) return true;
  if (reported.resetInMs === null) return !known.resetTold && hasRisen(known, reported.remaining);
  return !known.resetTold || Math.abs(reported.resetInMs - (known.resetInMs - ageMs)) > sameResetMs;
}

/** Whether more requests remain than one window explains: the sign of a new window if the service reports no reset. */
function hasRisen({ limit, remaining: left }: QuotaState, reported: number | null): boolean {
  if (reported === null || left === null) return false;
  return reported > left + Math.max(refilled.atLeast, (limit ?? 0) / refilled.partOfLimit);
}
