import type { Ledger } from '../ledger/ledger.js';

/**
 * Reports once that a page of the service has been read. Another process with the same ledger may do all the reading,
 * so a page that it has stored since this process started counts as well.
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

  /** Records that this process has read a page. */
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
