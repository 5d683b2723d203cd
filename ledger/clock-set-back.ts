import type { Ledger } from './ledger.js';

/** Clocks that are synchronized move by less. */
const toleratedMs = 5000;

/**
 * Whether an instant that the database wrote is in its future, as an SQL condition: the database's clock was set back
 * since, as on a laptop whose clock was wrong. What was put off from that instant would wait for as much longer.
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
