import type { Candidate } from './candidates.js';
import { observeLane, unobservedLanes } from './observe-lane.js';
import type { Collaborators } from '../work/collaborators.js';
import { decideDelivery } from './decide-delivery.js';
import type { LanePlan } from './deliver-lane.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { surroundingsOf } from './surroundings.js';
import type { Planned, Sink } from '../sinks/sink.js';
import { nothingAround, toSubject } from './to-subject.js';
import type { PigeonholeName } from '../work/turns.js';

/** Looked at in one transaction: as many as a sink that writes files takes at once. */
const sliceSize = 500;

/**
 * What a sink would do with what its lanes hold, decided and planned as for sending, counted, and not sent.
 * @param mayGoOn asked before each slice
 * @returns false when there is more to look at
 */
export async function observeLanes(
  to: Collaborators,
  plans: ReadonlyMap<number, LanePlan>,
  mayGoOn: () => boolean,
): Promise<boolean> {
  const [first] = plans.values();
  if (first === undefined) return true;
  const { sink } = first;
  const { configuration } = to;
  const lanes = await unobservedLanes(to.ledger, { sinkId: sink.id, refs: [...plans.keys()], configuration });
  for (const ref of lanes) {
    const { lists, selected, place } = plans.get(ref)!;
    for (let more = true; more;) {
      if (!mayGoOn()) return false;
      ({ more } = await observeLane(to.ledger, {
        sinkId: sink.id,
        ref,
        lists,
        configuration,
        size: sliceSize,
        decide: (candidate) =>
          decideDelivery(candidate, {
            accepts: sink.accepts,
            revisions: sink.sink.traits.revisions,
            selected,
            onConsentWithdrawn: sink.onConsentWithdrawn,
            mayForget: () => true,
          }),
        withheld: async (tx, sending) =>
          (await planned(tx, sink.sink, { sinkId: sink.id, ref, place }, sending)).map(whyNothing),
      }));
    }
  }
  return true;
}

async function planned(
  tx: Queryable,
  sink: Sink,
  { place, ...lane }: { readonly sinkId: number; readonly ref: number; readonly place: PigeonholeName },
  sending: readonly { readonly candidate: Candidate; readonly identity: boolean }[],
): Promise<Planned[]> {
  const candidates = sending.map(({ candidate }) => candidate);
  const around = sink.traits.looksAround ? await surroundingsOf(tx, lane, candidates) : [];
  return await sink.plan(
    sending.map(({ candidate, identity }, index) =>
      toSubject(candidate, around[index] ?? nothingAround, { identity, place }),
    ),
  );
}

function whyNothing(each: Planned): string | null {
  if (each.kind === 'send') return null;
  return each.kind === 'nothing' ? each.reason : each.cause;
}
