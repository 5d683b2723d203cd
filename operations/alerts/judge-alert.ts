/** What is known of one alert, as the ledger keeps it. */
export interface AlertState {
  /** As it was last looked at. */
  readonly holds: boolean;
  /** That it holds, or does not; Unix time in ms. */
  readonly sinceMs: number;
  /** That it holds is the last that was told. */
  readonly told: boolean;
  /** How often it came back without a longer calm between. */
  readonly raises: number;
}

/** What a look has found. `unknown`: something else hides it for now, so that neither may be said. */
export type Found = 'holds' | 'over' | 'unknown';

export interface Judgement {
  /** As it is to stand; null: nothing of it is kept. */
  readonly state: AlertState | null;
  readonly tell: 'raised' | 'recovered' | null;
}

/** In milliseconds. */
export interface Calm {
  /** How long it has to be over before that is told, the first time. */
  readonly firstMs: number;
  /** Each time it comes back the calm has to be twice as long, up to this. */
  readonly longestMs: number;
  /** After so long a calm it is as if it had never been. */
  readonly forgetMs: number;
}

export const usualCalm: Calm = { firstMs: 15_000, longestMs: 60 * 60_000, forgetMs: 2 * 60 * 60_000 };

/**
 * What is told of an alert, and what is remembered. Pure.
 *
 * It is raised at once. That it is over is told after a calm: 15 s the first time, twice as long each time that it has
 * come back, an hour at most. So something that goes on and off all day is told about some ten times, not each time.
 *
 * States: *not known* → *told* when it holds; *told, holds* ⇄ *told, calm* as looks find it; *told, calm* → *over* when
 * the calm was long enough; *over* → *told* when it holds again (one more raise), → *not known* when it has not for two
 * hours.
 */
export function judgeAlert(before: AlertState | null, found: Found, nowMs: number, calm: Calm = usualCalm): Judgement {
  if (found === 'unknown') return { state: before, tell: null };
  if (found === 'holds') {
    if (before === null) return { state: { holds: true, sinceMs: nowMs, told: true, raises: 1 }, tell: 'raised' };
    const state = { ...before, holds: true, sinceMs: before.holds ? before.sinceMs : nowMs };
    if (before.told) return { state, tell: null };
    return { state: { ...state, told: true, raises: before.raises + 1 }, tell: 'raised' };
  }
  if (before === null) return { state: null, tell: null };
  if (before.holds) return { state: { ...before, holds: false, sinceMs: nowMs }, tell: null };
  const calmForMs = nowMs - before.sinceMs;
  if (before.told) {
    const isOver = calmForMs >= neededCalmMs(before.raises, calm);
    return isOver ? { state: { ...before, told: false }, tell: 'recovered' } : { state: before, tell: null };
  }
  return { state: calmForMs >= calm.forgetMs ? null : before, tell: null };
}

/**
 * What is remembered instead of a judgement that tells something, when it is to be told later: the next look finds the
 * same to tell, and nothing is told of what is over by then. Pure. @returns null: nothing was known, and nothing is
 */
export function heldBack(before: AlertState | null, { state, tell }: Judgement): AlertState | null {
  if (tell !== 'raised' || state === null) return before;
  return { ...state, told: false, raises: state.raises - 1 };
}

/** @param raises from 1 */
function neededCalmMs(raises: number, { firstMs, longestMs }: Calm): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(raises - 1, 30));
}
