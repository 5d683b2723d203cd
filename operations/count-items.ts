import type { Ledger } from '../ledger/ledger.js';
import { ownRecords } from '../ledger/own-records.js';
import type { Consent } from '../ledger/seen-item.js';
import { consentBehind } from '../delivering/candidates.js';

export interface ItemsAsked {
  readonly ref: number;
  readonly lists: readonly string[];
  /** Only items whose last change was found since; null: all. */
  readonly since: Date | null;
  /** Leaves out items whose last change has a delivery row of this sink by itself; null: counts them. */
  readonly withoutRowOf: number | null;
  /** Only items whose last change is the sink's past: at or below this sequence; null: all. */
  readonly until: number | null;
  /** Keys of the pigeonholes that the sink's syncs have chosen: of their list. */
  readonly selected: readonly string[];
}

/** Items that a decision treats alike. */
export interface ItemGroup {
  readonly list: string;
  /** Of people's own records, where it is known; null for all else. */
  readonly consent: Consent | null;
  /** Of pigeonholes: none of the sink's syncs has chosen them. */
  readonly unselected: boolean;
  readonly items: number;
}

/** Stored items by list and by what a decision on them depends on. Reads every row of these lists: for a person who asks. */
export async function countItemGroups(ledger: Ledger, asked: ItemsAsked): Promise<ItemGroup[]> {
  return await ledger.db.query<ItemGroup & Record<string, unknown>>(
    `select i.list, case when i.list = any($7::text[]) then ${consentBehind} end as consent,
       i.list = 'pigeonholes' and i.key <> all($4::text[]) as unselected, count(*)::int as items
     from items i join changes c on c.ref = i.ref and c.sequence = i.last_sequence
       left join items a on i.list = any($7::text[]) and a.ref = i.ref and a.list = 'attendees' and a.key = i.attendee_id::text
         and a.payload is not null
     where i.ref = $1 and i.list = any($2::text[]) and i.payload is not null
       and ($3::timestamptz is null or c.found_at >= $3) and ($5::int8 is null or i.last_sequence <= $5)
       and ($6::int4 is null or not exists (select 1 from deliveries d
         where d.sink_id = $6 and d.ref = i.ref and d.sequence = i.last_sequence and d.replay = 0))
     group by 1, 2, 3 order by 1, 2, 3`,
    [asked.ref, asked.lists, asked.since, asked.selected, asked.until, asked.withoutRowOf, [...ownRecords]],
  );
}
