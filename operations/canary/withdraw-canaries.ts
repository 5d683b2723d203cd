import type { Collaborators } from '../../work/collaborators.js';
import { nameOfError } from '../../work/name-of-error.js';
import { type Canary, noteCanary, releaseCanary, takeAbandonedCanaries } from '../../delivering/canaries.js';
import type { Place } from '../ready/look-ready.js';
import { canaryFacts } from './canary-facts.js';
import { CanaryFlight, canaryLeaseMs } from './canary-flight.js';
import { stoppedSink } from './stopped-sink.js';

/**
 * Takes back the canaries that a process left behind, or could not take back. Safe to run at any time and twice at once:
 * each is taken by one process. A sink that is stopped is sent nothing, and its canary waits.
 * @param place of one pigeonhole; null: of all
 */
export async function withdrawCanaries(to: Collaborators, place: Place | null): Promise<void> {
  const taken = await takeAbandonedCanaries(to.ledger, place, { owner: to.owner, leaseMs: canaryLeaseMs });
  for (const canary of taken) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- few, and no hurry
      await withdrawCanary(to, canary);
    } catch (error) {
      const { sink, workspace, pigeonholeId } = canary;
      to.log.error({ sink, workspace, pigeonholeId, error: nameOfError(error) }, 'taking a canary back broke off');
    } finally {
      // oxlint-disable-next-line no-await-in-loop -- not kept from the next look until its lease ends
      await releaseCanary(to.ledger, canary.number, to.owner);
    }
  }
}

async function withdrawCanary(to: Collaborators, canary: Canary): Promise<void> {
  const { sink: name, workspace, pigeonholeId } = canary;
  const sink = to.sinks.get(name);
  if (sink === undefined) {
    const detail = `sink ${name} is not configured any more`;
    await noteCanary(to.ledger, { ...canary, state: 'left', detail }, { owner: to.owner, leaseMs: 0 });
    to.log.warn({ sink: name, workspace, pigeonholeId }, 'a canary is left to a person');
    return;
  }
  if ((await stoppedSink(to, sink)) !== null) return;
  const facts = await canaryFacts(to, sink, { workspace, pigeonholeId });
  const withdrawal = await new CanaryFlight(to, sink, facts, canary).withdraw();
  to.log.info({ sink: name, workspace, pigeonholeId, withdrawal: withdrawal.kind }, 'canary taken back');
}
