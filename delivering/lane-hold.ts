import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { type LaneLease, renewLane, takeLane } from '../ledger/lanes.js';
import { LeaseWatch } from '../work/lease-watch.js';
import { type Clocks, Stopwatch, systemClocks } from '../base/stopwatch.js';

/** How long a lane stays taken after its holder was last heard of: what a killed process delays its sink. */
export const leaseMs = 20_000;
const renewEveryMs = 5000;
const lookEveryMs = 1000;
/** Of a lease that could not be renewed, the time after which the holder stops; the rest is for clocks. */
const usableMs = leaseMs * 0.8;

/**
 * Keeps a lane's lease alive while something is sent on it. The signal is aborted when the lease was lost, or could
 * not be renewed for so long that a successor may soon take it: open calls end before it does. Timers may not have run
 * while the machine was suspended, so each call confirms the lease first (`confirm`).
 */
export class LaneHold {
  readonly #stop = new AbortController();
  readonly #looks: NodeJS.Timeout;
  readonly #watch: LeaseWatch;

  private constructor(
    private readonly ledger: Ledger,
    readonly lease: LaneLease,
    clocks: Clocks,
    takenAt: Stopwatch,
  ) {
    this.#watch = new LeaseWatch(() => this.#renew(), clocks, takenAt);
    this.#looks = setInterval(() => this.#look(), lookEveryMs);
  }

  /** @returns undefined while another attempt holds the lane */
  static async take(
    ledger: Ledger,
    lane: { readonly sinkId: number; readonly ref: number; readonly owner: string },
    clocks: Clocks = systemClocks,
  ): Promise<LaneHold | undefined> {
    const takenAt = new Stopwatch(clocks);
    const lease = await takeLane(ledger, { ...lane, leaseMs });
    return lease === undefined ? undefined : new LaneHold(ledger, lease, clocks, takenAt);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Confirms before a call that the lane is still held.
   * @returns undefined when it certainly is; else a promise that rejects when it is not
   */
  readonly confirm = (): Promise<void> | undefined => {
    if (this.#stop.signal.aborted) return Promise.reject(this.#lost());
    return this.#watch.confirm();
  };

  end(): void {
    clearInterval(this.#looks);
  }

  #look(): void {
    const elapsedMs = this.#watch.elapsedMs();
    // While the store fails, or answers late, the lease that stands decides.
    if (elapsedMs >= renewEveryMs) this.#watch.confirmNow().catch(() => elapsedMs >= usableMs && this.#stop.abort());
    if (this.#watch.monotonicMs() >= usableMs) this.#stop.abort();
  }

  async #renew(): Promise<void> {
    if (await renewLane(this.ledger, this.lease, leaseMs)) return;
    this.#stop.abort();
    throw this.#lost();
  }

  #lost(): LedgerError {
    const { sinkId, ref } = this.lease;
    return new LedgerError('stale', `the lane of sink ${sinkId} in pigeonhole row ${ref} is no longer held`);
  }
}
