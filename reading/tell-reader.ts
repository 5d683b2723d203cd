import { selectedPigeonholes } from '../ledger/pigeonholes.js';
import { registrantsList } from '../ledger/registrant-item.js';
import type { Collaborators } from '../work/collaborators.js';
import { sinksWanting } from '../work/reading-plan.js';
import { syncsOf } from './read-pigeonhole.js';

/**
 * An import into a pigeonhole has ended: its reader takes a turn at once, which tells of the registrants, where some sink
 * wants that. Where this is lost, the next turn does the same, ten minutes later at most.
 */
export async function tellReader(
  to: Collaborators,
  { ref, workspace, pigeonholeId }: { readonly ref: number; readonly workspace: string; readonly pigeonholeId: number },
): Promise<void> {
  const selected = await selectedPigeonholes(to.ledger, syncsOf(to.config, workspace));
  const syncs = selected.find((row) => row.ref === ref)?.syncs ?? [];
  if (!syncs.some((sync) => sinksWanting(to.config, sync, registrantsList).length > 0)) return;
  await to.orchestration.startReading([{ workspace, pigeonholeId }]);
}
