import { pausesOf, pigeonholeName } from '../ledger/pauses.js';
import { claimHidden, selectedPigeonholes } from '../ledger/pigeonholes.js';
import { ApiError } from '../pigeonhole/api-error.js';
import { askPigeonhole } from '../work/asking/ask-pigeonhole.js';
import type { Collaborators } from '../work/collaborators.js';
import { PermitRefusal } from '../work/asking/permit-refusal.js';
import { syncsOf } from './read-pigeonhole.js';

/** How often a pigeonhole that the service's list does not show is asked for by its id. */
const every = {
  ms: 60_000,
  msWhenOver: 60 * 60_000, // it tells nothing new but that it was opened again
};

/**
 * The status of selected pigeonholes that the service's list does not show (any more), each asked for by its id: what
 * is read of them, and how often, rests on it. Where the service does not answer, the status that is known stays, and
 * what its answer means for the workspace is judged where lists are read.
 */
export async function readHidden(
  to: Collaborators,
  workspace: string,
  signal: AbortSignal,
): Promise<{ id: number; status: string | null }[]> {
  const selected = (await selectedPigeonholes(to.ledger, syncsOf(to.config, workspace))).filter(
    (row) => row.workspace === workspace,
  );
  const ids = selected.map(({ pigeonholeId }) => pigeonholeId);
  const due = await claimHidden(to.ledger, workspace, ids, every);
  const seen: { id: number; status: string | null }[] = [];
  for (const id of due) {
    if (to.stopping.aborted || signal.aborted) break;
    const name = pigeonholeName(workspace, id);
    if ((await pausesOf(to.ledger, [{ scope: 'pigeonhole', name }])).length > 0) continue;
    try {
      const { status } = await askPigeonhole(to, { workspace, priority: 'idle' }, id, signal);
      seen.push({ id, status: typeof status === 'string' && status !== '' ? status : null });
    } catch (error) {
      if (error instanceof PermitRefusal) break; // the others would be refused as well: asked for another time
      if (!(error instanceof ApiError)) throw error;
      const { kind, code, requestId } = error;
      to.log.debug({ workspace, pigeonhole: id, kind, code, requestId }, 'pigeonhole cannot be asked for by its id');
      if (['quota', 'throttled', 'credential', 'aborted'].includes(kind)) break; // the others would fail as well
    }
  }
  return seen;
}
