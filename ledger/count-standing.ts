import type { Ledger } from './ledger.js';
import type { Consent } from './seen-item.js';

/** Items that a sink was sent and that are not gone, of one list, whose people have said the same. */
export interface StandingItems {
  readonly list: string;
  /** Set for attendees; null for other lists. */
  readonly consent: Consent | null;
  readonly items: number;
}

/**
 * What a sink holds of these lists in a pigeonhole, by what it was sent: items that are there at the source, and of
 * which some revision was delivered (of attendees: with the person). Reads all of the lane's deliveries.
 */
export async function countStanding(
  ledger: Ledger,
  { sinkId, ref, lists }: { readonly sinkId: number; readonly ref: number; readonly lists: readonly string[] },
): Promise<StandingItems[]> {
  if (lists.length === 0) return [];
  return await ledger.db.query<StandingItems & Record<string, unknown>>(
    `with sent as (select distinct list, key from deliveries
       where sink_id = $1 and ref = $2 and list = any($3::text[]) and state = 'delivered'
         and (list <> 'attendees' or identity))
     select i.list, case when i.list = 'attendees' then i.consent end as consent, count(*)::int as items
     from sent s join items i on i.ref = $2 and i.list = s.list and i.key = s.key
     where i.payload is not null group by 1, 2 order by 1, 2`,
    [sinkId, ref, lists],
  );
}
