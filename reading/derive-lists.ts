import { engagementList } from '../ledger/engagement.js';
import { recountEngagement } from './recount-engagement.js';
import { recountRegistrants } from './recount-registrants.js';
import { registrantsList } from '../ledger/registrant-item.js';
import type { Collaborators } from '../work/collaborators.js';
import type { DerivedListName, ReadingPlan } from '../work/reading-plan.js';

/** Maximum time per list in one cycle. The rest follows in the next cycle, which is due immediately. */
const turnMs = 1000;

/**
 * Updates the derived lists of a pigeonhole from its read lists and imports, if a sink wants them, slice by slice.
 * @returns whether there is more to do
 */
export async function deriveLists(
  deps: Collaborators,
  { ref, plan }: { readonly ref: number; readonly plan: ReadingPlan },
  signal: AbortSignal,
): Promise<boolean> {
  const drop = { attendees: plan.drop.attendees ?? [], registrants: plan.drop.registrants ?? [] };
  const registrantsLeft = await derive(deps, plan, registrantsList, signal, (sinkIds) =>
    recountRegistrants(deps.ledger, ref, { sinkIds, drop }),
  );
  const engagementLeft = await derive(deps, plan, engagementList, signal, (sinkIds) =>
    recountEngagement(deps.ledger, ref, sinkIds),
  );
  return registrantsLeft || engagementLeft;
}

type Slice = (sinkIds: readonly number[]) => ReturnType<typeof recountEngagement>;

async function derive(
  deps: Collaborators,
  { sinks }: ReadingPlan,
  list: DerivedListName,
  signal: AbortSignal,
  next: Slice,
): Promise<boolean> {
  const sinkIds = (sinks.get(list) ?? []).flatMap((name) => deps.sinks.get(name)?.id ?? []);
  if (sinkIds.length === 0) return false;
  const until = performance.now() + turnMs;
  for (let more = true; more;) {
    if (performance.now() > until || deps.stopping.aborted || signal.aborted) return true;
    const slice = await next(sinkIds);
    if (slice.woken.length > 0) await deps.orchestration.wakeSinks(slice.woken);
    more = slice.more;
  }
  return false;
}
