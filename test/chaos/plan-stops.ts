import { between, instants, oneOf, type Random } from './draw.js';
import type { PlannedStop, Store } from './plan.js';

const meanGapMs = 35_000;

/**
 * Plans to stop processes for a while, mostly for longer than their leases (delivering/lane-hold.ts). No two stops
 * overlap, so that none ends another.
 */
export function planStops(random: Random, durationMs: number, store: Store): PlannedStop[] {
  const victims = store === 'postgres' ? (['parent', 'worker', 'worker'] as const) : (['parent'] as const);
  const stops = instants(random, meanGapMs, 2000, durationMs).map((atMs): PlannedStop => ({
    atMs,
    deed: {
      do: 'stop',
      victim: oneOf(random, victims),
      forMs: random() < 0.7 ? between(random, 22_000, 28_000) : between(random, 2000, 9000),
    },
  }));
  const kept: PlannedStop[] = [];
  for (const stop of stops) {
    const before = kept.at(-1);
    if (before === undefined || before.atMs + before.deed.forMs < stop.atMs) kept.push(stop);
  }
  return kept;
}
