import type { Queryable } from '../drivers/database.js';
import type { Candidate } from './candidates.js';

/** What stands around a change, as the ledger has it now. Texts are canonical JSON; null: there is none. */
export interface Surroundings {
  /** The item at its change before. */
  readonly previous: string | null;
  /** The record of the person whose item it is, whether or not they may be shown. */
  readonly attendee: string | null;
  readonly session: string | null;
  readonly pigeonhole: string | null;
  /** What the sink has made of the item before. */
  readonly object: string | null;
}

interface SurroundingsRow extends Surroundings {
  n: number;
}

/** Around each of these changes, in their order: one statement for all of them. */
export async function surroundingsOf(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  candidates: readonly Pick<Candidate, 'sequence' | 'list' | 'key'>[],
): Promise<Surroundings[]> {
  if (candidates.length === 0) return [];
  const rows = await tx.query<SurroundingsRow>(
    `select n.n::int as n, b.snapshot as previous,
       case when n.list = 'attendees' or a.expired then null else a.payload end as attendee,
       case when n.list = 'sessions' then i.payload else s.payload end as session,
       w.payload as pigeonhole, o.object
     from unnest($3::int8[], $4::text[], $5::text[]) with ordinality as n (sequence, list, key, n)
       join pigeonholes p on p.ref = $2
       join items i on i.ref = $2 and i.list = n.list and i.key = n.key
       join changes c on c.ref = $2 and c.sequence = n.sequence
       left join changes b on b.ref = $2 and b.sequence = c.previous_sequence
       left join items a on a.ref = $2 and a.list = 'attendees' and a.key = i.attendee_id::text
       left join items s on s.ref = $2 and s.list = 'sessions' and s.key = coalesce(i.session_id, c.session_id)::text
       left join pigeonholes r on r.workspace = p.workspace and r.pigeonhole_id = 0
       left join items w on w.ref = r.ref and w.list = 'pigeonholes'
         and w.key = case when p.pigeonhole_id = 0 then n.key else p.pigeonhole_id::text end
       left join sink_objects o on o.sink_id = $1 and o.ref = $2 and o.list = n.list and o.key = n.key
     order by n.n`,
    [
      sinkId,
      ref,
      candidates.map(({ sequence }) => sequence),
      candidates.map(({ list }) => list),
      candidates.map(({ key }) => key),
    ],
  );
  return rows.map(({ n: _, ...surroundings }) => surroundings);
}
