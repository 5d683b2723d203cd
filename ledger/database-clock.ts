import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';

/**
 * Estimates the database's clock: the last instant that the database returned, plus the time that has passed since on
 * this process's monotonic clock. All instants that several processes store and compare come from this clock, so that a
 * process whose own wall clock is an hour ahead does not affect the others.
 *
 * The estimate is never ahead of the database's clock, because the database writes the instant into its answer before
 * the answer arrives. The faster the answer, the more accurate the estimate.
 *
 * The monotonic clock may stop while the machine is suspended. The wall clock then shows that more time has passed, so
 * if the two clocks differ, the process asks the database again.
 */
export class DatabaseClock {
  /** The database's time minus the monotonic clock. */
  #offsetMs: number | undefined;
  /** The wall clock minus the monotonic clock when the database last answered. */
  #wallOffsetMs = 0;
  #db: Queryable | undefined;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly monotonicNow: () => number = () => performance.now(),
    private readonly wallNow: () => number = () => Date.now(),
  ) {}

  /**
   * Returns the time in epoch ms. Until the database has answered, this is the process's wall clock. If a clock of this
   * process has jumped, asks the database in the background.
   */
  readonly nowMs = (): number => {
    if (this.#offsetMs === undefined) return this.wallNow();
    this.confirm()?.catch(() => undefined); // it never rejects
    return Math.floor(this.monotonicNow() + this.#offsetMs);
  };

  now(): Date {
    return new Date(this.nowMs());
  }

  /**
   * Adjusts the clock to an instant that the database has just returned.
   * @param askedAt the value of `monotonic()` before the statement was sent
   */
  adjust(databaseNow: Date, askedAt: number): void {
    const atMs = databaseNow.getTime();
    const minOffsetMs = atMs - this.monotonicNow();
    const maxOffsetMs = atMs + 1 - askedAt; // the database's instant is truncated to a millisecond
    if (this.#offsetMs === undefined || this.#offsetMs < minOffsetMs || this.#offsetMs > maxOffsetMs)
      this.#offsetMs = minOffsetMs;
    this.#wallOffsetMs = this.wallNow() - this.monotonicNow();
  }

  /**
   * If a clock of this process has jumped since the database last answered, asks the database again. Never rejects: if
   * the database does not answer, the next call asks again.
   * @returns undefined if no clock has jumped
   */
  confirm(): Promise<void> | undefined {
    const jumpedMs = Math.abs(this.wallNow() - this.monotonicNow() - this.#wallOffsetMs);
    if (this.#db === undefined || jumpedMs < toleratedJumpMs) return undefined;
    this.#asking ??= this.ask(this.#db)
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  /** Returns the monotonic clock in ms, for `adjust`. */
  monotonic(): number {
    return this.monotonicNow();
  }

  /** Reads the database's clock, and keeps `db` to ask it again after a jump. */
  async ask(db: Queryable): Promise<void> {
    this.#db = db;
    const askedAt = this.monotonicNow();
    const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
    this.adjust(row!.now, askedAt);
  }
}

/**
 * Tolerated difference between the wall clock and the monotonic clock. Synchronizing the wall clock moves it by less.
 */
const toleratedJumpMs = 1000;
/**
 * An instant counts as being in the future only if it is more than this ahead. Synchronizing the clock of the
 * database's machine moves it by less.
 */
const toleratedMs = 5000;

/**
 * SQL condition: an instant that the database wrote earlier is in the future now, because the database's clock was set
 * back in between (for example on a laptop whose clock was wrong). A wait counted from that instant would last too
 * long.
 */
export const isInFuture = (instant: string): string =>
  `coalesce(${instant} > clock_timestamp() + ${toleratedMs} * interval '1 millisecond', false)`;

/**
 * Returns true if a stream was last read at an instant that is in the future now, because the database's clock was set
 * back.
 */
export async function wasClockSetBack(ledger: Ledger): Promise<boolean> {
  const [row] = await ledger.db.query<{ yes: boolean }>(
    `select exists (select 1 from streams where wanted and ${isInFuture('polled_at')}) as yes`,
  );
  return row!.yes;
}
