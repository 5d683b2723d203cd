import { between, instants, oneOf, type Random } from './draw.js';
import type { Kill, PlannedDeed, PlannedStop, Store, Victim } from './plan.js';

const victims: Readonly<Record<Store, readonly Victim[]>> = {
  embedded: ['parent', 'parent', 'temporal', 'everything'],
  postgres: ['parent', 'worker', 'worker', 'temporal', 'store', 'everything'],
};

/** Shorter than two starts, so that some processes are killed during their start. */
const meanGapMs = 7000;

export interface PlannedKill extends PlannedDeed {
  readonly deed: Kill;
}

export function planKills(random: Random, durationMs: number, store: Store): PlannedKill[] {
  return instants(random, meanGapMs, 0, durationMs).map((atMs) => ({
    atMs,
    deed: { do: 'kill', victim: oneOf(random, victims[store]), restartAfterMs: between(random, 0, 1500) },
  }));
}

/** Time before a stop in which a killed process restarts and takes leases. */
const startMs = 6000;

/**
 * Replaces kills of a process that is paused, or will be paused soon, with kills of another one. A killed process could
 * not continue as an old holder of leases after the pause.
 */
export function sparePaused(kills: readonly PlannedKill[], stops: readonly PlannedStop[], store: Store): PlannedKill[] {
  return kills.map((kill) => {
    const { atMs, deed } = kill;
    const stop = stops.find((each) => each.atMs - startMs <= atMs && atMs <= each.atMs + each.deed.forMs);
    const paused = stop?.deed.victim;
    if (deed.victim !== paused && (deed.victim !== 'everything' || paused === undefined)) return kill;
    const other = paused === 'worker' ? 'parent' : 'worker';
    const victim = deed.victim === 'everything' || store === 'embedded' ? 'temporal' : other;
    return { atMs, deed: { ...deed, victim } };
  });
}
