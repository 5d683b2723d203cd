import type { Ledger } from '../ledger/ledger.js';

/**
 * Reports once that the service has answered with a page. Processes that share a ledger share the reading too, and one of
 * them may read everything, so a page that another process has stored since this one started counts as well.
 */
export class FirstPage {
  readonly #since: Date;
  #isReported = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly report: () => void,
  ) {
    this.#since = new Date(ledger.clock.nowMs());
  }

  /** This process has read a page. */
  note(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.report();
  }

  /** Checks whether any process of the ledger has read a list since this one started. */
  async look(): Promise<void> {
    if (this.#isReported) return;
    const [row] = await this.ledger.db.query<{ hasRead: boolean }>(
      'select exists (select 1 from streams where polled_at >= $1) as "hasRead"',
      [this.#since],
    );
    if (row!.hasRead) this.note();
  }
}
