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
  to: Collaborators,
  { ref, plan }: { readonly ref: number; readonly plan: ReadingPlan },
  signal: AbortSignal,
): Promise<boolean> {
  const drop = { attendees: plan.drop.attendees ?? [], registrants: plan.drop.registrants ?? [] };
  const registrantsLeft = await derive(to, plan, registrantsList, signal, (sinkIds) =>
    recountRegistrants(to.ledger, ref, { sinkIds, drop }),
  );
  const engagementLeft = await derive(to, plan, engagementList, signal, (sinkIds) =>
    recountEngagement(to.ledger, ref, sinkIds),
  );
  return registrantsLeft || engagementLeft;
}

type Slice = (sinkIds: readonly number[]) => ReturnType<typeof recountEngagement>;

async function derive(
  to: Collaborators,
  { sinks }: ReadingPlan,
  list: DerivedListName,
  signal: AbortSignal,
  next: Slice,
): Promise<boolean> {
  const sinkIds = (sinks.get(list) ?? []).flatMap((name) => to.sinks.get(name)?.id ?? []);
  if (sinkIds.length === 0) return false;
  const until = performance.now() + turnMs;
  for (let more = true; more;) {
    if (performance.now() > until || to.stopping.aborted || signal.aborted) return true;
    const slice = await next(sinkIds);
    if (slice.woken.length > 0) await to.orchestration.wakeSinks(slice.woken);
    more = slice.more;
  }
  return false;
}
