import { instants, oneOf, type Random } from './draw.js';
import type { PlannedDeed, Store } from './plan.js';

/**
 * Errors of the worker's wall clock, less than the five minutes within which receivers and vendors accept signatures.
 */
const errors = [-90_000, -20_000, 0, 30_000, 90_000] as const;
const meanGapMs = 12_000;

/**
 * Returns the error at the start. Only with PostgreSQL, because an embedded store uses the clock of its process, and
 * no second clock exists.
 */
export function planClock(random: Random, store: Store): number {
  return store === 'postgres' ? oneOf(random, [0, 90_000, -90_000] as const) : 0;
}

/** Plans jumps forward and backward while the process runs. */
export function planClockJumps(random: Random, durationMs: number, store: Store): PlannedDeed[] {
  if (store === 'embedded') return [];
  let before = Number.NaN;
  return instants(random, meanGapMs, 0, durationMs).map((atMs) => {
    const others = errors.filter((error) => error !== before);
    before = oneOf(random, others);
    return { atMs, deed: { do: 'clock', aheadMs: before } };
  });
}
