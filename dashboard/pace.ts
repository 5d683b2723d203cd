/** Number of settled rows at an instant. */
export interface Progress {
  readonly atMs: number;
  readonly done: number;
}

/** Long enough that one slow answer is not taken for the pace, short enough that a new pace shows. */
const looksBackMs = 30_000;

/** Adds what was seen just now and forgets what is too old to tell the pace. Pure. */
export function withProgress(seen: readonly Progress[], now: Progress): readonly Progress[] {
  return [...seen.filter(({ atMs }) => now.atMs - atMs <= looksBackMs), now];
}

/** Rows a second over the last half minute; null while too little was seen. Pure. */
export function rowsPerSecond(seen: readonly Progress[]): number | null {
  const first = seen[0];
  const last = seen.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < 1000) return null;
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
}

/** Seconds until the rest is done at that pace; null where there is none. Pure. */
export function secondsLeft(left: number, perSecond: number | null): number | null {
  return perSecond === null || perSecond <= 0 ? null : left / perSecond;
}
