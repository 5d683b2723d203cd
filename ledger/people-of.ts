import type { Ledger } from './ledger.js';

/** The number of people of these pigeonholes, by ref: imported registrants or attendees, whichever are more. */
export async function peopleOf(
  ledger: Pick<Ledger, 'db'>,
  refs: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await ledger.db.query<{ ref: number; people: number }>(
    `select ref, max(n)::int as people from (
       select ref, count(*) as n from registrants where ref = any($1::int4[]) group by ref
       union all
       select ref, item_count as n from streams where list = 'attendees' and wanted and swept_at is not null
         and ref = any($1::int4[])) as counts
     group by ref`,
    [refs],
  );
  return new Map(rows.map(({ ref, people }) => [ref, people]));
}
