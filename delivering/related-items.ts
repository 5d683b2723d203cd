import type { Queryable } from '../ledger/drivers/database.js';
import type { Candidate } from './candidates.js';

/** The items related to a change, as currently stored. Texts are canonical JSON; null if there is none. */
export interface RelatedItems {
  /** The item at its previous change. */
  readonly previous: string | null;
  /** The record of the item's attendee, whether or not the identity is visible. */
  readonly attendee: string | null;
  readonly session: string | null;
  readonly pigeonhole: string | null;
  /** The item's object from the sink's last outcome. */
  readonly object: string | null;
}

interface RelatedItemsRow extends RelatedItems {
  n: number;
}

/** Returns the related items of each change, in their order: one statement, one look-up per row (decision 0038). */
export async function readRelatedItems(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  candidates: readonly Pick<Candidate, 'sequence' | 'list' | 'key'>[],
): Promise<RelatedItems[]> {
  if (candidates.length === 0) return [];
  const rows = await tx.query<RelatedItemsRow>(
    `select n.n::int as n, b.snapshot as previous,
       case when n.list = 'attendees' or a.expired then null else a.payload end as attendee,
       case when n.list = 'sessions' then i.payload else s.payload end as session,
       w.payload as pigeonhole, o.object
     from unnest($3::int8[], $4::text[], $5::text[]) with ordinality as n (sequence, list, key, n)
       cross join lateral (select * from pigeonholes where ref = $2 limit 1) p
       cross join lateral (select * from items where ref = $2 and list = n.list and key = n.key limit 1) i
       cross join lateral (select * from changes where ref = $2 and sequence = n.sequence limit 1) c
       left join lateral (select * from changes where ref = $2 and sequence = c.previous_sequence limit 1) b on true
       left join lateral (select * from items
         where ref = $2 and list = 'attendees' and key = i.attendee_id::text limit 1) a on true
       left join lateral (select * from items
         where ref = $2 and list = 'sessions' and key = coalesce(i.session_id, c.session_id)::text limit 1) s on true
       left join lateral (select ref from pigeonholes where workspace = p.workspace and pigeonhole_id = 0 limit 1) r on true
       left join lateral (select * from items where ref = r.ref and list = 'pigeonholes'
         and key = case when p.pigeonhole_id = 0 then n.key else p.pigeonhole_id::text end limit 1) w on true
       left join lateral (select * from sink_objects
         where sink_id = $1 and ref = $2 and list = n.list and key = n.key limit 1) o on true
     order by n.n`,
    [
      sinkId,
      ref,
      candidates.map(({ sequence }) => sequence),
      candidates.map(({ list }) => list),
      candidates.map(({ key }) => key),
    ],
  );
  return rows.map(({ n: _, ...items }) => items);
}
