import { between, instants, oneOf, type Random } from './draw.js';
import type { PlannedDeed, Store } from './plan.js';

const meanGapMs = 45_000;

/** Processes that do not run for a while, mostly for longer than their leases last (delivering/lane-hold.ts). */
export function planStops(random: Random, durationMs: number, store: Store): PlannedDeed[] {
  const victims = store === 'postgres' ? (['parent', 'worker', 'worker'] as const) : (['parent'] as const);
  return instants(random, meanGapMs, 2000, durationMs).map((atMs) => ({
    atMs,
    deed: {
      do: 'stop',
      victim: oneOf(random, victims),
      forMs: random() < 0.7 ? between(random, 22_000, 28_000) : between(random, 2000, 9000),
    },
  }));
}

/**
 * How wrong the wall clock of the worker is. Less than the five minutes within which receivers of webhooks believe a
 * signature, and vendors a signed assertion.
 */
export function planClock(random: Random, store: Store): number {
  return store === 'postgres' ? oneOf(random, [0, 90_000, -90_000] as const) : 0;
}
