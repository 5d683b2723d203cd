import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { lastSeenPigeonhole } from '../../importing/desk/find-target.js';
import { type Consent, consentStates } from '../../ledger/seen-item.js';
import type { Fields } from '../../sinks/sink.js';
import type { Place } from '../ready/look-ready.js';
import type { CanaryFacts } from './canary-subject.js';
import { profileMentions } from './profile-mentions.js';

/** What the canaries of a sink are made from, as it is configured now. */
export async function canaryFacts(
  { ledger, config }: Pick<Collaborators, 'ledger' | 'config'>,
  { name, accepts, sink }: OpenSink,
  { workspace, pigeonholeId }: Place,
): Promise<CanaryFacts> {
  const seen = await lastSeenPigeonhole(ledger, workspace, pigeonholeId);
  return {
    consent: acceptedConsent(accepts),
    fields: profileMentions(config.sinks[name]!.settings),
    pigeonhole: seen === undefined ? null : (JSON.parse(seen.payload) as Fields),
    apart: sink.traits.order === 'pigeonhole',
  };
}

/** What the invented person has to have said, so that the sink takes them. */
function acceptedConsent(accepts: ReadonlySet<Consent>): Consent {
  return consentStates.find((state) => accepts.has(state)) ?? 'obtained';
}
