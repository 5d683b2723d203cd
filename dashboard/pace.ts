/** Number of settled rows at an instant. */
export interface Progress {
  readonly atMs: number;
  readonly done: number;
}

/** Window of the rate: long enough to smooth out one slow answer, short enough to show a new rate soon. */
const windowMs = 30_000;

/** Adds a measurement and drops those older than 30 s. Pure. */
export function withProgress(seen: readonly Progress[], now: Progress): readonly Progress[] {
  return [...seen.filter(({ atMs }) => now.atMs - atMs <= windowMs), now];
}

/** Returns rows per second over the last 30 s; null if the measurements span less than 1 s. Pure. */
export function rowsPerSecond(seen: readonly Progress[]): number | null {
  const first = seen[0];
  const last = seen.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < 1000) return null;
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
}

/** Returns the seconds until the remaining rows are done; null without a positive rate. Pure. */
export function secondsLeft(left: number, perSecond: number | null): number | null {
  return perSecond === null || perSecond <= 0 ? null : left / perSecond;
}
