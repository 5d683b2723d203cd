import { type QuotaState, refilled } from './quota.js';
import type { Quota } from '../../pigeonhole/response-headers.js';

/** Resets reported in whole seconds can differ by this much. */
const sameResetMs = 5000;

/**
 * Whether a response reports something about the quota that the ledger does not know. Only then is it written: most
 * responses confirm the count. Pure.
 * @param known the last state read from the ledger; @param ageMs its age
 */
export function isNews(known: QuotaState | undefined, ageMs: number, said: Quota | null): boolean {
  if (said === null) return false;
  if (known === undefined) return true;
  if (said.limit !== null && (said.limit !== known.limit || !known.told)) return true;
  if (said.remaining !== null && (known.remaining === null || said.remaining < known.remaining)) return true;
  if (said.resetInMs === null) return !known.resetTold && hasRisen(known, said.remaining);
  return !known.resetTold || Math.abs(said.resetInMs - (known.resetInMs - ageMs)) > sameResetMs;
}

/** Whether more requests remain than one window explains: the sign of a new window if the service reports no reset. */
function hasRisen({ limit, remaining: left }: QuotaState, said: number | null): boolean {
  if (said === null || left === null) return false;
  return said > left + Math.max(refilled.atLeast, (limit ?? 0) / refilled.partOfLimit);
}
