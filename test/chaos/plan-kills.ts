import { between, instants, oneOf, type Random } from './draw.js';
import type { PlannedDeed, Store, Victim } from './plan.js';

const victims: Readonly<Record<Store, readonly Victim[]>> = {
  embedded: ['parent', 'parent', 'temporal', 'everything'],
  postgres: ['parent', 'worker', 'worker', 'temporal', 'store', 'everything'],
};

/** Shorter than two starts, so that some are killed while they start. */
const meanGapMs = 7000;

export function planKills(random: Random, durationMs: number, store: Store): PlannedDeed[] {
  return instants(random, meanGapMs, 0, durationMs).map((atMs) => ({
    atMs,
    deed: { do: 'kill', victim: oneOf(random, victims[store]), restartAfterMs: between(random, 0, 1500) },
  }));
}
