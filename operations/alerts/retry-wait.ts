const firstMs = 5_000;
const longestMs = 10 * 60_000;

/**
 * How long a receiver that has failed is left alone: 5 s, doubled with each failure in a row up to 10 minutes, and never
 * less than it asks for itself. Pure.
 * @param failures in a row before this one
 */
export function retryWaitMs(failures: number, afterMs = 0): number {
  return Math.max(afterMs, Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20)));
}
