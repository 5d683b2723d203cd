import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { type LaneLease, renewLane, acquireLane } from '../ledger/lanes-leased.js';
import { LeaseWatch, type Clocks, Stopwatch, systemClocks } from '../base/lease.js';

/** Length of a lane's lease. If a process is killed, its lanes wait at most this long for another holder. */
const leaseMs = 20_000;
const renewEveryMs = 5000;
const checkEveryMs = 1000;
/** The holder stops this long after its last renewal; the rest of the lease allows for clock differences. */
const usableMs = leaseMs * 0.8;

/**
 * Renews a lane's lease while its holder sends. Aborts the signal if the lease was lost, or is about to expire without
 * a renewal, so that open calls end before another process takes the lane. Timers do not run while the machine is
 * suspended, so each call confirms the lease first (`confirm`).
 */
export class LaneHold {
  readonly #stop = new AbortController();
  readonly #checks: NodeJS.Timeout;
  readonly #watch: LeaseWatch;

  private constructor(
    private readonly ledger: Ledger,
    readonly lease: LaneLease,
    clocks: Clocks,
    takenAt: Stopwatch,
  ) {
    this.#watch = new LeaseWatch(() => this.#renew(), clocks, takenAt);
    this.#checks = setInterval(() => this.#check(), checkEveryMs);
  }

  /** @returns undefined while another attempt holds the lane */
  static async take(
    ledger: Ledger,
    lane: { readonly sinkId: number; readonly pigeonholeNumber: number; readonly owner: string },
    clocks: Clocks = systemClocks,
  ): Promise<LaneHold | undefined> {
    const takenAt = new Stopwatch(clocks);
    const lease = await acquireLane(ledger, { ...lane, leaseMs });
    return lease === undefined ? undefined : new LaneHold(ledger, lease, clocks, takenAt);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Confirms before a call that the lane is still held.
   * @returns undefined if the lane is certainly held; otherwise a promise that rejects if it is lost
   */
  readonly confirm = (): Promise<void> | undefined => {
    if (this.#stop.signal.aborted) return Promise.reject(this.#lost());
    return this.#watch.confirm();
  };

  end(): void {
    clearInterval(this.#checks);
  }

  #check(): void {
    const elapsedMs = this.#watch.elapsedMs();
    // If the ledger fails or responds late, the lease continues until `usableMs`.
    if (elapsedMs >= renewEveryMs) this.#watch.confirmNow().catch(() => elapsedMs >= usableMs && this.#stop.abort());
    if (this.#watch.monotonicMs() >= usableMs) this.#stop.abort();
  }

  async #renew(): Promise<void> {
    if (await renewLane(this.ledger, this.lease, leaseMs)) return;
    this.#stop.abort();
    throw this.#lost();
  }

  #lost(): LedgerError {
    const { sinkId, pigeonholeNumber } = this.lease;
    return new LedgerError(
      'stale',
      `the lane of sink ${sinkId} in pigeonhole row ${pigeonholeNumber} is no longer held`,
    );
  }
}
