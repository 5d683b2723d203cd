import type { Ledger } from '../ledger.js';

/** Why a sink was not given the record of a pigeonhole that none of its syncs had selected. */
export const notSelected = 'not-selected';

/**
 * Releases the records of pigeonholes that were withheld from a sink because none of its syncs had selected them yet.
 * Made to be run at every turn: what is released once is withheld no more.
 * @param workspaceRef the row that stands for the workspace's lists
 * @param selected each sink with each pigeonhole that one of its syncs has selected
 * @returns the sinks that now have something to send
 */
export async function releaseSelected(
  ledger: Ledger,
  workspaceRef: number,
  selected: readonly { readonly sinkId: number; readonly pigeonholeId: number }[],
): Promise<string[]> {
  const rows = await ledger.db.query<{ name: string }>(
    `with released as (
       update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ref = $1 and list = 'pigeonholes' and state = 'withheld' and reason = $4
         and (sink_id, key) in (select * from unnest($2::int4[], $3::text[]))
       returning sink_id),
     lanes_due as (update lanes set due_at = now() where ref = $1 and sink_id in (select sink_id from released))
     select distinct s.name from released r join sinks s on s.id = r.sink_id`,
    [
      workspaceRef,
      selected.map(({ sinkId }) => sinkId),
      selected.map(({ pigeonholeId }) => String(pigeonholeId)),
      notSelected,
    ],
  );
  return rows.map((row) => row.name);
}
