import type { Ledger } from '../ledger/ledger.js';

/**
 * A rehearsal reads every list of one pigeonhole at the live interval, whatever the event's status and the session times, until an instant that
 * is stored in the ledger. It therefore survives restarts, and the reader and everything that shows freshness see the same end. The quota lengthens
 * the interval as it does for live lists.
 */
export const longestRehearsalSeconds = 24 * 3600;

/** Starts a rehearsal, or moves the end of the one that is on. @returns its end */
export async function startRehearsal(
  ledger: Ledger,
  ref: number,
  { forSeconds, by }: { readonly forSeconds: number; readonly by: string | null },
): Promise<Date> {
  const [row] = await ledger.db.query<{ until: Date }>(
    `update pigeonholes set rehearsal_until = clock_timestamp() + $2 * interval '1 second', rehearsal_by = $3,
       rehearsal_since = case when rehearsal_until > clock_timestamp() then rehearsal_since else clock_timestamp() end
     where ref = $1 returning rehearsal_until as until`,
    [ref, forSeconds, by],
  );
  return row!.until;
}

/** Ends the rehearsal that is on. A second call changes nothing. */
export async function endRehearsal(ledger: Ledger, ref: number): Promise<void> {
  await ledger.db.query(
    'update pigeonholes set rehearsal_until = clock_timestamp() where ref = $1 and rehearsal_until > clock_timestamp()',
    [ref],
  );
}
