/** State of one alert, as the ledger stores it. */
export interface AlertState {
  /** Result of the last check. */
  readonly holds: boolean;
  /** Instant at which the present state started; Unix time in ms. */
  readonly sinceMs: number;
  /** Whether the last message reported that the condition holds. */
  readonly told: boolean;
  /** Number of times that the alert was raised without a long quiet time in between. */
  readonly raises: number;
}

/** Result of a check. `unknown`: because of another problem, the check cannot tell whether the condition holds. */
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
 * States:
 * - *none* → *raised*: the condition holds; a message is sent.
 * - *raised* ⇄ *quiet*: the condition no longer holds, or holds again; no message is sent.
 * - *quiet* → *recovered*: the quiet time has passed; a recovery message is sent.
 * - *recovered* → *raised*: the condition holds again; a message is sent, and the quiet time doubles.
 * - *recovered* → *none*: the condition has not held for two hours.
 */
export function judgeAlert(
  before: AlertState | null,
  found: Found,
  nowMs: number,
  delays: RecoveryDelays = defaultRecoveryDelays,
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
  const quietMs = nowMs - before.sinceMs;
  if (before.told) {
    const isOver = quietMs >= recoveryDelayMs(before.raises, delays);
    return isOver ? { state: { ...before, told: false }, tell: 'recovered' } : { state: before, tell: null };
  }
  return { state: quietMs >= delays.forgetMs ? null : before, tell: null };
}

/**
 * Returns the state to store if a message is postponed. With this state, the next check finds the same message again,
 * unless the condition is over by then. Pure.
 * @returns null: nothing was stored before, and nothing is stored now
 */
export function postponedState(before: AlertState | null, { state, tell }: Judgement): AlertState | null {
  if (tell !== 'raised' || state === null) return before;
  return { ...state, told: false, raises: state.raises - 1 };
}

/** @param raises from 1 */
function recoveryDelayMs(raises: number, { firstMs, longestMs }: RecoveryDelays): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(raises - 1, 30));
}
