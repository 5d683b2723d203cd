import { type Clocks, Stopwatch, systemClocks } from './stopwatch.js';

/** If a lease was confirmed less than this time ago, a call does not confirm it again. */
export const confirmAfterMs = 6000;

/**
 * Confirms a lease before each call that only its holder may make. If the last confirmation is recent according to both
 * clocks (stopwatch.ts), this costs nothing. After the process or the machine was suspended, the store is queried
 * first, because another process may hold the lease by then.
 */
export class LeaseWatch {
  #confirmedAt: Stopwatch | null;
  #confirming: Promise<void> | undefined;

  /**
   * @param renew extends the lease, or confirms that it is still held; rejects if it was lost
   * @param takenAt a stopwatch that was started before the lease was requested, because the store may count the lease's
   *   time from the request; null if the lease was never confirmed
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

  /**
   * Confirms the lease unless the last confirmation is recent enough. @returns undefined if the last confirmation is
   * recent enough
   */
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

/** Thrown if the store took so long to confirm the lease that the lease may have expired meanwhile. */
class LeaseNotConfirmed extends Error {
  override readonly name = 'LeaseNotConfirmed';

  constructor() {
    super('the lease could not be confirmed in time');
  }
}
