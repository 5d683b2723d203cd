import { type Clocks, Stopwatch, systemClocks } from '../base/stopwatch.js';

/** A lease that was confirmed within this time needs no further look before a call. */
export const confirmAfterMs = 6000;

/**
 * Confirms a lease before each call that only its holder may make. While the last confirmation is young by both clocks
 * this costs nothing. After a pause of the process or the machine the store is asked first: a successor may have the
 * lease by now.
 */
export class LeaseWatch {
  #confirmedAt: Stopwatch | null;
  #confirming: Promise<void> | undefined;

  /**
   * @param renew extends the lease, or finds that it is still held; rejects when it was lost
   * @param takenAt made before the lease was asked for, as the store may count from then; null: confirmed never yet
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

  /** By the clock that timers go by. */
  monotonicMs(): number {
    return this.#confirmedAt?.monotonicMs() ?? Infinity;
  }

  /** @returns undefined when the lease was confirmed a moment ago; else a promise that rejects when it cannot be now */
  confirm(): Promise<void> | undefined {
    return this.elapsedMs() < confirmAfterMs ? undefined : this.confirmNow();
  }

  /** One question at a time, however many calls wait for the answer. */
  confirmNow(): Promise<void> {
    this.#confirming ??= this.#ask().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  async #ask(): Promise<void> {
    const askedAt = new Stopwatch(this.clocks);
    await this.renew();
    // The answer itself may have been on its way through a pause.
    if (askedAt.elapsedMs() >= confirmAfterMs) throw new LeaseNotConfirmed();
    this.#confirmedAt = askedAt;
  }
}

/** The store's answer took so long that it says nothing about now. */
export class LeaseNotConfirmed extends Error {
  override readonly name = 'LeaseNotConfirmed';

  constructor() {
    super('the lease could not be confirmed in time');
  }
}
