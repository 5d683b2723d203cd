import { underOwnSignal } from '../network/within-deadline.js';

/** The time in which one piece of a lane's work may start calls. */
export interface CallBudget {
  readonly signal: AbortSignal;
  /** Time left in ms, and so the longest wait for a permit; at 0 no further call starts. */
  readonly remainingMs: () => number;
}

/** Runs work with a budget that starts now. Counts on a monotonic clock, so that a changed clock cannot stretch a lease. */
export async function withCallBudget<Result>(
  signal: AbortSignal,
  budgetMs: number,
  work: (budget: CallBudget) => Promise<Result>,
  clock: { now(): number } = performance,
): Promise<Result> {
  const untilMs = clock.now() + budgetMs;
  const remainingMs = (): number => Math.max(0, untilMs - clock.now());
  return await underOwnSignal(signal, (own) => work({ signal: own, remainingMs }));
}
