import type { Ledger } from '../ledger/ledger.js';

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
  const values = [sinkId, workspaceRef, selected, notSelected];
  const released = `sink_id = $1 and ref = $2 and replay = 0 and list = 'pigeonholes' and state = 'withheld'
    and reason = $4 and key = any($3::text[])`;
  // Asked at every turn, so nothing is locked and nothing written when nothing is left.
  const left = await ledger.db.query(`select 1 from deliveries where ${released} limit 1`, values);
  if (left.length === 0) return;
  await ledger.db.transaction(async (tx) => {
    await tx.query('update lanes set due_at = now() where sink_id = $1 and ref = $2', [sinkId, workspaceRef]);
    await tx.query(
      `update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ${released}`,
      values,
    );
  });
}
