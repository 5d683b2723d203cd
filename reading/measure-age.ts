import type { PageSummary } from '../ledger/walk.js';
import type { StreamReading } from './stream-reading.js';

/**
 * Whether the newest item of a sweep's page was created after the previous sweep. Other items can appear late, for
 * example when a moderator restores a removed one, and their age is not the delay of their detection. In a list with
 * ids, a new item has a higher id than all stored items; this needs no clock. In other lists, its creation instant is
 * after the previous sweep. In the first sweep, no item counts as new. Call this function before the page is stored,
 * because storing raises the stream's highest id. Pure.
 */
export function showsNewItem(
  { lease: { sweptAt }, highestId }: Pick<StreamReading, 'lease' | 'highestId'>,
  { high, newestAt }: PageSummary,
): boolean {
  if (sweptAt === null || newestAt === null) return false;
  return highestId === null ? newestAt > sweptAt.getTime() : high !== null && high > highestId;
}

/** Measures the age of a page's newest item, which is the delay of its detection. */
export function measureAge({ deps, lease }: StreamReading, { newestAt }: PageSummary): void {
  if (newestAt !== null) deps.meters.found(lease.list, deps.ledger.clock.nowMs() - newestAt);
}
