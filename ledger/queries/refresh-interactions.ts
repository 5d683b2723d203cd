import type { Queryable } from '../drivers/database.js';

/**
 * Makes due again what these people did, where it stands at a sink otherwise than it would be sent now: without them
 * though they may be shown (the sink may have made nothing of it then), or with them though they may not. Only of items
 * whose last change is settled: a later one goes out by itself. The lane is locked.
 */
export async function refreshInteractions(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  people: readonly { readonly attendeeId: string; readonly shown: boolean }[],
): Promise<void> {
  if (people.length === 0) return;
  await tx.query(
    `update deliveries d set state = 'waiting', due_at = null, identity = case when n.shown then null else identity end,
       updated_at = clock_timestamp()
     from unnest($3::int8[], $4::boolean[]) as n (attendee_id, shown)
       join items i on i.ref = $2 and i.attendee_id = n.attendee_id and i.list <> 'attendees'
         and i.visibility = 'named' and i.payload is not null
     where d.sink_id = $1 and d.ref = $2 and d.sequence = i.last_sequence and d.replay = 0
       and d.state in ('delivered', 'withheld')
       and d.identity is distinct from n.shown`,
    [sinkId, ref, people.map(({ attendeeId }) => attendeeId), people.map(({ shown }) => shown)],
  );
}
