import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';

/**
 * The database's clock as this process knows it: an instant that the database gave, and the time that has passed since
 * by a clock of this process that never jumps. Every instant that several processes store
 * and compare comes from here: a process whose own wall clock is an hour ahead must not affect the others.
 *
 * It is never ahead of the database, since an answer contains a time before its arrival. The fastest answer is the most
 * accurate.
 *
 * A clock that never jumps may stand still while the machine is suspended. The wall clock then shows more time, so a
 * difference between the two makes the process ask the database again.
 */
export class DatabaseClock {
  /** The database's time less this process's. */
  #offsetMs: number | undefined;
  /** The wall clock less the monotonic one, when the database last answered. */
  #wallOffsetMs = 0;
  #db: Queryable | undefined;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly monotonicNow: () => number = () => performance.now(),
    private readonly wallNow: () => number = () => Date.now(),
  ) {}

  /**
   * Epoch ms. Uses the wall clock of this process until the database has answered. If a clock of this process has
   * jumped, the database is asked in the background.
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
   * @param askedAt of `monotonic`, before the statement was sent
   */
  heard(databaseNow: Date, askedAt: number): void {
    const atMs = databaseNow.getTime();
    const least = atMs - this.monotonicNow();
    const most = atMs + 1 - askedAt; // an instant of the database is cut off below a millisecond
    if (this.#offsetMs === undefined || this.#offsetMs < least || this.#offsetMs > most) this.#offsetMs = least;
    this.#wallOffsetMs = this.wallNow() - this.monotonicNow();
  }

  /**
   * Asks the database if a clock of this process has jumped since its last answer. Never rejects: if the database does
   * not answer, the next call asks again.
   * @returns undefined if neither has jumped
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

  /** For `heard`. */
  monotonic(): number {
    return this.monotonicNow();
  }

  /** Reads the clock of the database, which is asked again after a jump. */
  async ask(db: Queryable): Promise<void> {
    this.#db = db;
    const askedAt = this.monotonicNow();
    const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
    this.heard(row!.now, askedAt);
  }
}

/** A clock that is synchronized moves by less between two answers of the database. */
const toleratedJumpMs = 1000;
/** Clocks that are synchronized move by less. */
const toleratedMs = 5000;

/**
 * Whether an instant that the database wrote is in its future, as an SQL condition: the database's clock was set back
 * since, as on a laptop whose clock was wrong. A wait that starts at that instant would last longer by the difference.
 */
export const isOfFuture = (instant: string): string =>
  `coalesce(${instant} > clock_timestamp() + ${toleratedMs} * interval '1 millisecond', false)`;

/** Returns whether streams wait for an instant that was reckoned before the database's clock was set back. */
export async function wasClockSetBack(ledger: Ledger): Promise<boolean> {
  const [row] = await ledger.db.query<{ yes: boolean }>(
    `select exists (select 1 from streams where wanted and ${isOfFuture('polled_at')}) as yes`,
  );
  return row!.yes;
}
