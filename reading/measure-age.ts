import type { PageSummary } from '../ledger/walk.js';
import type { StreamReading } from './stream-reading.js';

/**
 * Whether the newest item of a sweep's page is new since the previous sweep, and not only found late, like an item that
 * was removed and restored. If the list has ids, a new item has a higher id than every item before, whatever the clocks
 * show. Otherwise, it must have been created after the previous sweep. Nothing is new to the first sweep. Call it
 * before the page is stored, because that raises the stream's highest id. Pure.
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
