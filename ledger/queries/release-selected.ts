import type { Ledger } from '../ledger.js';

/** Why a sink was not given the record of a pigeonhole that none of its syncs had selected. */
export const notSelected = 'not-selected';

/**
 * Releases the records of pigeonholes that were withheld because nothing had selected them yet.
 * @param workspaceRef the row that stands for the workspace's lists
 * @returns the sinks that now have something to send
 */
export async function releaseSelected(
  ledger: Ledger,
  workspaceRef: number,
  pigeonholeIds: readonly number[],
): Promise<string[]> {
  if (pigeonholeIds.length === 0) return [];
  const rows = await ledger.db.query<{ name: string }>(
    `with released as (
       update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ref = $1 and list = 'pigeonholes' and key = any($2::text[]) and state = 'withheld' and reason = $3
       returning sink_id),
     lanes_due as (update lanes set due_at = now() where ref = $1 and sink_id in (select sink_id from released))
     select distinct s.name from released r join sinks s on s.id = r.sink_id`,
    [workspaceRef, pigeonholeIds.map(String), notSelected],
  );
  return rows.map((row) => row.name);
}
