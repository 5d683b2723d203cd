import type { Ledger } from '../ledger.js';

/** Why a sink was not given the record of a pigeonhole that none of its syncs had selected. */
export const notSelected = 'not-selected';

/**
 * Releases the records of pigeonholes that were withheld from a sink before one of its syncs selected them. Made to be
 * run before every turn of the sink: what is released is withheld no more.
 * @param workspaceRef the row that stands for the workspace's lists
 */
export async function releaseSelected(
  ledger: Ledger,
  { sinkId, workspaceRef, selected }: { sinkId: number; workspaceRef: number; selected: readonly string[] },
): Promise<void> {
  await ledger.db.query(
    `with released as (
       update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where sink_id = $1 and ref = $2 and replay = 0 and list = 'pigeonholes' and state = 'withheld'
         and reason = $4 and key = any($3::text[]) returning 1)
     update lanes set due_at = now() where sink_id = $1 and ref = $2 and exists (select 1 from released)`,
    [sinkId, workspaceRef, selected, notSelected],
  );
}
