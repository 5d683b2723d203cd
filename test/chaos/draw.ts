/** Functions that draw values from a generator of numbers from 0 up to 1. */

export type Random = () => number;

/** Returns an integer; both bounds are included. */
export function between(random: Random, lowest: number, highest: number): number {
  return lowest + Math.floor(random() * (highest - lowest + 1));
}

export function oneOf<T>(random: Random, pool: readonly T[]): T {
  return pool[Math.floor(random() * pool.length)]!;
}

/** Returns instants with random gaps around a mean, from `fromMs` until shortly before the end. */
export function instants(random: Random, meanGapMs: number, fromMs: number, endMs: number): number[] {
  const found: number[] = [];
  const gap = (): number => Math.round(meanGapMs * (0.2 + 1.6 * random()));
  for (let atMs = fromMs + gap(); atMs < endMs; atMs += gap()) found.push(atMs);
  return found;
}
