import type { Ledger } from '../../ledger/ledger.js';
import { listTraits, type ListName } from '../../base/lists.js';
import { withdrawnReason } from './statement-words.js';

/** Maximum number of items whose deliveries one statement looks up, so that other work does not wait for long. */
const itemsAtOnce = 2000;

/** A number of items by what became of their latest version at a sink. */
export interface OutcomeCount {
  readonly sinkId: number;
  /** False: the items were deleted or erased, so it is about their removal. */
  readonly isPresent: boolean;
  readonly outcome: 'delivered' | 'withheld' | 'refused' | 'waiting' | 'unsent';
  /** Reason of withheld items, cause of refused ones, or why items were not meant for the sink; null for others. */
  readonly reason: string | null;
  readonly items: number;
}

/**
 * Counts the items of a list by what became of their latest version at each of these sinks. Each item counts once. Reads
 * the list in parts; changes between two parts are counted in the state in which their part finds them.
 */
export async function countOutcomes(
  ledger: Ledger,
  pigeonholeNumber: number,
  { list, sinkIds }: { readonly list: ListName; readonly sinkIds: readonly number[] },
): Promise<OutcomeCount[]> {
  const sums = new Map<string, OutcomeCount>();
  const isOwnRecord = listTraits[list].person === 'own-record';
  for (let after: string | null = ''; after !== null;) {
    const rows: (OutcomeCount & { readonly next: string | null })[] = await ledger.db.query(
      `with part as materialized (
         select key, last_sequence, payload is not null as is_present from items
         where pigeonhole_number = $1 and list = $2 and key > $3 order by key limit $4::int4),
       lane as materialized (
         select k.id, coalesce(l.watermark, 0) as watermark
         from unnest($5::int4[]) as k (id) left join lanes l on l.sink_id = k.id and l.pigeonhole_number = $1),
       decided as (
         select l.id, p.is_present, d.reason, case
             when d.state in ('waiting', 'sending', 'retry') then 'waiting'
             when d.state = 'dead' then 'refused'
             when d.state = 'delivered' and $6::boolean and p.is_present and d.identity = false then 'removed'
             when d.state in ('delivered', 'withheld') then d.state
             when d.state = 'superseded' then 'expired'
             when p.last_sequence > l.watermark then 'waiting'
             else 'before' end as outcome
         from lane l cross join part p left join lateral (
           select d.state, d.reason, d.identity from deliveries d
           where d.sink_id = l.id and d.pigeonhole_number = $1 and d.sequence = p.last_sequence
           order by array_position(array['sending', 'waiting', 'retry', 'dead', 'delivered', 'withheld'], d.state) nulls last,
             d.replay desc limit 1) d on true
         where p.last_sequence > 0)
       select id as "sinkId", is_present as "isPresent",
         case outcome when 'removed' then 'withheld' when 'expired' then 'unsent' when 'before' then 'unsent' else outcome end as outcome,
         case outcome when 'removed' then $7::text when 'expired' then outcome when 'before' then outcome
           when 'withheld' then coalesce(reason, '') when 'refused' then coalesce(reason, '') end as reason,
         count(*)::int as items, null::text as next
       from decided group by 1, 2, 3, 4
       union all
       select 0, true, 'waiting', null, 0, (select max(key) from part) where (select count(*) from part) = $4::int4`,
      [pigeonholeNumber, list, after, itemsAtOnce, sinkIds, isOwnRecord, withdrawnReason],
    );
    after = null;
    for (const { next, ...row } of rows) {
      if (next !== null) {
        after = next;
        continue;
      }
      if (row.sinkId === 0) continue;
      const name = JSON.stringify([row.sinkId, row.isPresent, row.outcome, row.reason]);
      const known = sums.get(name);
      sums.set(name, known === undefined ? row : { ...known, items: known.items + row.items });
    }
  }
  return [...sums.values()];
}
