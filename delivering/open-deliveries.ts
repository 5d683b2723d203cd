import type { Ledger } from '../ledger/ledger.js';
import { byOrder } from '../ledger/addressed-indexes.js';

/**
 * Whether no more than so many deliveries of a lane, or (`ref` null) of all lanes of a sink, are unsettled. What was not
 * looked at yet does not count: it is within a turn.
 */
export async function hasFewOpen(
  ledger: Ledger,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number | null },
  few: number,
): Promise<boolean> {
  if (few < 0) return false;
  const rows = await ledger.db.query(
    `select 1 from lanes l cross join lateral (
       (select 1 from deliveries d where ${byOrder('d', 'l.sink_id', 'l.ref')} and d.state in ('waiting', 'retry') limit $3)
       union all
       (select 1 from deliveries d where ${byOrder('d', 'l.sink_id', 'l.ref')} and d.state = 'sending' limit $3)) open
     where l.sink_id = $1 and ($2::int4 is null or l.ref = $2) limit $3`,
    [sinkId, ref, few + 1],
  );
  return rows.length <= few;
}
