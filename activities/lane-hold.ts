import type { Ledger } from '../ledger/ledger.js';
import { type LaneLease, renewLane } from '../ledger/queries/lanes.js';

/** How long a lane stays taken after its holder was last heard of: what a killed process delays its sink. */
export const leaseMs = 20_000;
const renewEveryMs = 5000;
/** Of a lease that could not be renewed, the share after which the holder stops; the rest is for clocks. */
const usableShare = 0.8;

/**
 * Keeps a lane's lease alive while something is sent on it. The signal is aborted when the lease was lost, or could
 * not be renewed for so long that a successor may soon take it: open calls end before it does.
 */
export class LaneHold {
  readonly #stop = new AbortController();
  readonly #renewals: NodeJS.Timeout;
  #deadline: NodeJS.Timeout;

  constructor(ledger: Ledger, lease: LaneLease) {
    this.#deadline = this.#abortLater();
    this.#renewals = setInterval(() => {
      const next = this.#abortLater(); // counted from before the request, as the store may count from then
      renewLane(ledger, lease, leaseMs).then(
        (held) => {
          clearTimeout(held ? this.#deadline : next);
          if (held) this.#deadline = next;
          else this.#stop.abort();
        },
        () => clearTimeout(next), // the store fails: the deadline that stands decides
      );
    }, renewEveryMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    clearInterval(this.#renewals);
    clearTimeout(this.#deadline);
  }

  #abortLater(): NodeJS.Timeout {
    return setTimeout(() => this.#stop.abort(), leaseMs * usableShare);
  }
}
