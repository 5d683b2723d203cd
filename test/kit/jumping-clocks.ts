import type { Clocks } from '../../base/lease.js';

/**
 * Clocks that stand still, as in a process that does not run, until a test makes one or both of them jump. Otherwise a
 * slow machine would reach the next renewal of a lease in the middle of a test.
 */
export class JumpingClocks implements Clocks {
  wallAheadMs = 0;
  monotonicAheadMs = 0;
  readonly #wallMs = Date.now();
  readonly #monotonicMs = performance.now();

  wallNow(): number {
    return this.#wallMs + this.wallAheadMs;
  }

  monotonicNow(): number {
    return this.#monotonicMs + this.monotonicAheadMs;
  }
}
