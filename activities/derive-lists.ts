import { engagementList } from '../ledger/engagement.js';
import { recountEngagement } from '../ledger/queries/recount-engagement.js';
import type { Collaborators } from './collaborators.js';
import type { ReadingPlan } from './reading-plan.js';

/** A turn counts for so long; what is left is counted in the next, which then follows at once. */
const countingMs = 1000;

/**
 * Brings the derived lists of a pigeonhole in line with what was read of it, where some sink wants them: slice by slice.
 * @returns whether there is more to do
 */
export async function deriveLists(
  to: Collaborators,
  { ref, plan }: { readonly ref: number; readonly plan: ReadingPlan },
  signal: AbortSignal,
): Promise<boolean> {
  const sinkIds = (plan.sinks.get(engagementList) ?? []).flatMap((name) => to.sinks.get(name)?.id ?? []);
  if (sinkIds.length === 0) return false;
  const until = Date.now() + countingMs;
  for (let more = true; more;) {
    if (Date.now() > until || to.stopping.aborted || signal.aborted) return true;
    const slice = await recountEngagement(to.ledger, ref, sinkIds);
    if (slice.woken.length > 0) await to.orchestration.wakeSinks(slice.woken);
    more = slice.more;
  }
  return false;
}
