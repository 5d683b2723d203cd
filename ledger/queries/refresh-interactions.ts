import type { Queryable } from '../drivers/database.js';
import { type Consent, consentStates } from '../seen-item.js';
import { outcomeUnknown } from './dead-letters.js';
import { withdrawalsHeld } from './withdrawals.js';

/** Whose record was looked at. */
export interface LookedAt {
  /** Attendees by key, each with whether what they did may be shown before this record of theirs has gone out. */
  readonly people: ReadonlyMap<string, { readonly mayShow: boolean }>;
  /** And all whose record changed behind this sequence and up to that one: the sink is not sent such records. */
  readonly between: { readonly after: number; readonly until: number } | null;
}

/**
 * Makes due again what these people did, where it stands at a sink otherwise than it would be sent now, by the record
 * as it is now: without them though they may be shown (the sink may have made nothing of it then), or with them though
 * they may not. The latter also where the sink has refused the item's last change: an earlier one may stand there. Only
 * of items whose last change is settled: a later one goes out by itself. The lane is locked.
 * @param accepts whose record the sink takes; one that is not there is taken by who takes everything
 */
export async function refreshInteractions(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  accepts: ReadonlySet<Consent>,
  { people, between }: LookedAt,
): Promise<void> {
  if (people.size === 0 && between === null) return;
  await tx.query(
    `with looked (attendee_id, may_show) as (
       select * from unnest($3::int8[], $4::boolean[])
       union
       select key::int8, true from changes where ref = $2 and list = 'attendees' and sequence > $5 and sequence <= $6),
     judged as (
       select l.attendee_id, l.may_show,
         case when a.payload is not null then coalesce(a.consent = any($7::text[]), $8) else $8 end as shown
       from looked l left join items a on a.ref = $2 and a.list = 'attendees' and a.key = l.attendee_id::text)
     update deliveries d set state = 'waiting', reason = null, due_at = null,
       identity = case when n.shown then null else d.identity end, updated_at = clock_timestamp()
     from judged n join items i on i.ref = $2 and i.attendee_id = n.attendee_id and i.list <> 'attendees'
         and i.visibility = 'named' and i.payload is not null
     where (n.may_show or not n.shown)
       and d.sink_id = $1 and d.ref = $2 and d.sequence = i.last_sequence and d.replay = 0
       and (d.state in ('delivered', 'withheld')
         or (not n.shown and d.state = 'dead' and d.reason <> all($9::text[])))
       and (d.identity is distinct from n.shown
         or (not n.shown and exists (select 1 from deliveries r -- a replay has shown them since
           where r.sink_id = $1 and r.ref = $2 and r.sequence = d.sequence and r.replay > 0 and r.identity
             and r.updated_at > d.updated_at)))`,
    [
      sinkId,
      ref,
      [...people.keys()],
      [...people.values()].map(({ mayShow }) => mayShow),
      between?.after ?? 0,
      between?.until ?? 0,
      [...accepts],
      consentStates.every((state) => accepts.has(state)),
      [outcomeUnknown, withdrawalsHeld],
    ],
  );
}
