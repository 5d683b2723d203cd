import type { Clocks } from '../../base/stopwatch.js';

/** The system's clocks. A test can make one or both of them jump. */
export class JumpingClocks implements Clocks {
  wallAheadMs = 0;
  monotonicAheadMs = 0;

  wallNow(): number {
    return Date.now() + this.wallAheadMs;
  }

  monotonicNow(): number {
    return performance.now() + this.monotonicAheadMs;
  }
}
