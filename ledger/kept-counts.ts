import type { Queryable } from './drivers/database.js';
import type { PigeonholeRow } from './pigeonholes.js';
import type { Ledger } from './ledger.js';

type PigeonholeName = Pick<PigeonholeRow, 'workspace' | 'pigeonholeId'>;

/** A kept count that differs from the rows that it counts. */
export interface WrongCount extends PigeonholeName {
  /** Null: a count of items or of import rows. */
  readonly sink: string | null;
  /** Number of the import whose rows are counted; null: a count of items or deliveries. */
  readonly import: number | null;
  /** Empty for a count of import rows. */
  readonly list: string;
  /** State of deliveries, or outcome of import rows; empty for a count of items. */
  readonly state: string;
  /** The reason for withheld changes and dead letters, otherwise empty. */
  readonly reason: string;
  readonly kept: number;
  readonly counted: number;
}

/**
 * Counts all items, deliveries and import rows again and corrects the counts that are kept with them. They can be wrong only if rows
 * were changed without the triggers of the store, such as by hand or by a partial restore. Takes about 20 s for ten
 * million deliveries. Works on one lane, pigeonhole or import at a time, and other writers wait for that long.
 * @returns the counts that were wrong
 */
export async function recount(ledger: Pick<Ledger, 'db'>): Promise<WrongCount[]> {
  const wrong: WrongCount[] = [];
  const lanes = await ledger.db.query<{ sinkId: number; pigeonholeNumber: number; sink: string } & PigeonholeName>(
    `select l.sink_id as "sinkId", l.pigeonhole_number as "pigeonholeNumber", k.name as sink, p.workspace,
       p.pigeonhole_id as "pigeonholeId"
     from (select sink_id, pigeonhole_number from lanes union select sink_id, pigeonhole_number from delivery_counts) l
       join sinks k on k.id = l.sink_id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
         order by 3, 4, 5`,
  );
  for (const { sinkId, pigeonholeNumber, ...lane } of lanes) {
    for (const row of await recountDeliveries(ledger, sinkId, pigeonholeNumber))
      wrong.push({ import: null, ...lane, ...row });
  }
  const places = await ledger.db.query<{ pigeonholeNumber: number } & PigeonholeName>(
    `select pigeonhole_number as "pigeonholeNumber", workspace, pigeonhole_id as "pigeonholeId" from pigeonholes
       order by 2, 3`,
  );
  for (const { pigeonholeNumber, ...place } of places) {
    for (const row of await recountItems(ledger, pigeonholeNumber))
      wrong.push({ sink: null, import: null, ...place, ...row });
  }
  const imports = await ledger.db.query<{ import: number } & PigeonholeName>(
    `select i.number as import, p.workspace, p.pigeonhole_id as "pigeonholeId"
     from imports i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number order by 1`,
  );
  for (const each of imports) {
    for (const row of await recountImport(ledger, each.import)) wrong.push({ sink: null, ...each, ...row });
  }
  return wrong;
}

type WrongRow = Omit<WrongCount, keyof PigeonholeName | 'sink' | 'import'>;

async function recountDeliveries(
  ledger: Pick<Ledger, 'db'>,
  sinkId: number,
  pigeonholeNumber: number,
): Promise<WrongRow[]> {
  return await ledger.db.transaction(async (tx) => {
    // A writer whose rows are not committed yet waits here or has already counted them. Either way, nothing is lost.
    await tx.query('lock table delivery_counts in share row exclusive mode');
    return await tx.query<WrongRow>(
      `with differing as materialized (
         select list, state, reason, coalesce(k.changes, 0) as kept, coalesce(c.n, 0) + coalesce(k.dropped, 0) as counted
         from (select list, state, case when state in ('withheld', 'dead') then coalesce(reason, '') else '' end as reason,
             count(*) as n from deliveries
           where sink_id = $1 and pigeonhole_number = $2 and (replay = 0
             or state not in ('delivered', 'withheld', 'superseded'))
           group by 1, 2, 3) c
         full join (select list, state, reason, changes, dropped from delivery_counts where sink_id = $1
         and pigeonhole_number = $2) k
           using (list, state, reason)
         where coalesce(k.changes, 0) <> coalesce(c.n, 0) + coalesce(k.dropped, 0)),
       corrected as (
         insert into delivery_counts (sink_id, pigeonhole_number, list, state, reason, changes)
         select $1, $2, list, state, reason, counted from differing
         on conflict (sink_id, pigeonhole_number, list, state, reason) do update set changes = excluded.changes)
       select list, state, reason, kept, counted from differing order by 1, 2, 3`,
      [sinkId, pigeonholeNumber],
    );
  });
}

async function recountItems(ledger: Pick<Ledger, 'db'>, pigeonholeNumber: number): Promise<WrongRow[]> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table item_counts in share row exclusive mode');
    return await tx.query<WrongRow>(
      `with differing as materialized (
         select list, coalesce(k.items, 0) as kept, coalesce(c.n, 0) as counted
         from (select list, count(*) as n from items where pigeonhole_number = $1 and payload is not null
           group by list) c
         full join (select list, items from item_counts where pigeonhole_number = $1) k using (list)
         where coalesce(k.items, 0) <> coalesce(c.n, 0)),
       corrected as (
         insert into item_counts (pigeonhole_number, list, items) select $1, list, counted from differing
         on conflict (pigeonhole_number, list) do update set items = excluded.items)
       select list, '' as state, '' as reason, kept, counted from differing order by 1`,
      [pigeonholeNumber],
    );
  });
}

async function recountImport(ledger: Pick<Ledger, 'db'>, number: number): Promise<WrongRow[]> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table import_counts in share row exclusive mode');
    return await tx.query<WrongRow>(
      `with differing as materialized (
         select outcome, coalesce(k.rows, 0) as kept, coalesce(c.n, 0) as counted
         from (select outcome, sum(n)::int8 as n from (
             select coalesce(outcome, 'open') as outcome, count(*) as n from registrants where import = $1 group by 1
             union all select outcome, count(*) from import_rows where import = $1 group by 1
             union all select 'sent', sum(row_count) from import_chunks
               where import = $1 and state = 'created' having count(*) > 0) each group by 1) c
         full join (select outcome, rows from import_counts where import = $1) k using (outcome)
         where coalesce(k.rows, 0) <> coalesce(c.n, 0)),
       corrected as (
         insert into import_counts (import, outcome, rows) select $1, outcome, counted from differing
         on conflict (import, outcome) do update set rows = excluded.rows)
       select '' as list, outcome as state, '' as reason, kept, counted from differing order by outcome`,
      [number],
    );
  });
}

/** Removes the counts of an import that was deleted with its rows. */
export async function dropImportCounts(tx: Queryable, number: number): Promise<void> {
  await tx.query('delete from import_counts where import = $1', [number]);
}
