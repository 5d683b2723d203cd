import type { Queryable } from '../ledger/drivers/database.js';

/** The cause of removals that are dead letters until an operator confirms them. */
export const withdrawalsHeld = 'withdrawals-held';

/** Withdrawals within this time are counted together, so that many small groups are noticed as well. */
const countedForMs = 60 * 60_000;

/**
 * Returns the number of further people whose removal a sink may receive in a pigeonhole before an operator has to
 * confirm. As with deletions, removals are held only if they exceed two limits: a number of people, and a share of the
 * people sent to the sink. A registrant's record counts like an attendee's: a sink may receive only one of the two.
 */
export async function withdrawalsLeft(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  above: { readonly share: number; readonly items: number },
): Promise<number> {
  const [row] = await tx.query<{ sent: number; withdrawn: number }>(
    `select
       (select count(distinct (list, key))::int from deliveries
        where sink_id = $1 and ref = $2 and list in ('attendees', 'registrants') and identity) as sent,
       (select count(*)::int from deliveries d join changes c on c.ref = d.ref and c.sequence = d.sequence
        where d.sink_id = $1 and d.ref = $2 and d.list in ('attendees', 'registrants') and d.identity = false and c.kind <> 'deleted'
          and d.updated_at > now() - $3 * interval '1 millisecond') as withdrawn`,
    [sinkId, ref, countedForMs],
  );
  return Math.max(above.items, Math.floor(above.share * row!.sent)) - row!.withdrawn;
}
