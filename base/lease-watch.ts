import { type Clocks, Stopwatch, systemClocks } from './stopwatch.js';

/** A lease that was confirmed within this time is not confirmed again before a call. */
export const confirmAfterMs = 6000;

/**
 * Confirms a lease before each call that only its holder may make. While the last confirmation is recent by both clocks
 * this costs nothing. After the process or the machine was suspended, the store is queried first, because another
 * process may hold the lease by then.
 */
export class LeaseWatch {
  #confirmedAt: Stopwatch | null;
  #confirming: Promise<void> | undefined;

  /**
   * @param renew extends the lease, or confirms that it is still held; rejects if it was lost
   * @param takenAt created before the lease was requested, since the store may count from then; null if never confirmed
   */
  constructor(
    private readonly renew: () => Promise<void>,
    private readonly clocks: Clocks = systemClocks,
    takenAt: Stopwatch | null = null,
  ) {
    this.#confirmedAt = takenAt;
  }

  elapsedMs(): number {
    return this.#confirmedAt?.elapsedMs() ?? Infinity;
  }

  /** Milliseconds since the last confirmation, by the monotonic clock that timers use. */
  monotonicMs(): number {
    return this.#confirmedAt?.monotonicMs() ?? Infinity;
  }

  /** Confirms the lease if necessary. @returns undefined if the last confirmation is recent enough */
  confirm(): Promise<void> | undefined {
    return this.elapsedMs() < confirmAfterMs ? undefined : this.confirmNow();
  }

  /** Confirms the lease now. Concurrent calls share one query. @throws {LeaseNotConfirmed} if the store took too long */
  confirmNow(): Promise<void> {
    this.#confirming ??= this.#confirm().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  async #confirm(): Promise<void> {
    const startedAt = new Stopwatch(this.clocks);
    await this.renew();
    // The process may have been suspended while the response was on its way.
    if (startedAt.elapsedMs() >= confirmAfterMs) throw new LeaseNotConfirmed();
    this.#confirmedAt = startedAt;
  }
}

/** The store took so long to confirm the lease that the lease may be lost again. */
class LeaseNotConfirmed extends Error {
  override readonly name = 'LeaseNotConfirmed';

  constructor() {
    super('the lease could not be confirmed in time');
  }
}
