/** State of one alert, as the ledger stores it. */
export interface AlertState {
  /** Result of the last check. */
  readonly holds: boolean;
  /** Start of the present state; Unix time in ms. */
  readonly sinceMs: number;
  /** The last message said that it holds. */
  readonly told: boolean;
  /** Number of raises without a longer quiet time between them. */
  readonly raises: number;
}

/** Result of a check. `unknown`: another problem hides the condition, so it is neither present nor over. */
export type Found = 'holds' | 'over' | 'unknown';

export interface Judgement {
  /** State to store; null: none. */
  readonly state: AlertState | null;
  readonly tell: 'raised' | 'recovered' | null;
}

/** In milliseconds. */
export interface RecoveryDelays {
  /** Time for which the condition must be over before the first recovery message. */
  readonly firstMs: number;
  /** Each time it returns, the quiet time doubles, up to this. */
  readonly longestMs: number;
  /** After this quiet time the alert is forgotten. */
  readonly forgetMs: number;
}

export const defaultRecoveryDelays: RecoveryDelays = {
  firstMs: 15_000,
  longestMs: 60 * 60_000,
  forgetMs: 2 * 60 * 60_000,
};

/**
 * Decides which message an alert needs and which state is stored. Pure.
 *
 * An alert is raised immediately. Its recovery is reported after a quiet time: 15 s the first time, twice as long each
 * time that it returns, 1 h at most. A condition that changes all day is reported about ten times.
 *
 * States: *not known* → *told* when it holds; *told, holds* ⇄ *told, calm* as looks find it; *told, calm* → *over* when
 * the calm was long enough; *over* → *told* when it holds again (one more raise), → *not known* when it has not for two
 * hours.
 */
export function judgeAlert(
  before: AlertState | null,
  found: Found,
  nowMs: number,
  calm: RecoveryDelays = defaultRecoveryDelays,
): Judgement {
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
    const isOver = calmForMs >= recoveryDelayMs(before.raises, calm);
    return isOver ? { state: { ...before, told: false }, tell: 'recovered' } : { state: before, tell: null };
  }
  return { state: calmForMs >= calm.forgetMs ? null : before, tell: null };
}

/**
 * Returns the state to store when a message is postponed: the next check finds the same message again, unless the
 * condition is over by then. Pure.
 * @returns null: no state was known, and none is stored
 */
export function postponedState(before: AlertState | null, { state, tell }: Judgement): AlertState | null {
  if (tell !== 'raised' || state === null) return before;
  return { ...state, told: false, raises: state.raises - 1 };
}

/** @param raises from 1 */
function recoveryDelayMs(raises: number, { firstMs, longestMs }: RecoveryDelays): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(raises - 1, 30));
}
