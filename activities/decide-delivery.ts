import { notSelected } from '../ledger/queries/release-selected.js';
import type { Decision } from '../ledger/queries/begin-batch.js';
import type { Candidate } from '../ledger/queries/candidates.js';
import { type Consent, consentStates } from '../ledger/seen-item.js';

export interface DecidingSink {
  readonly accepts: ReadonlySet<Consent>;
  readonly revisions: 'every' | 'latest';
  /** Keys of the pigeonholes that its syncs have selected. */
  readonly selected: ReadonlySet<string>;
}

/**
 * What happens with a change at a sink. Pure; judged at the moment of sending, from current rows. A person's own
 * record is withheld where the sink does not accept their consent; what they did goes out, without them.
 */
export function decideDelivery(candidate: Candidate, sink: DecidingSink): Decision {
  if (sink.revisions === 'latest' && !candidate.latest) return { kind: 'supersede' };
  // Its text is gone (removed on purpose), and a `created` without data would say something else.
  if (candidate.payload === null && candidate.kind !== 'deleted') return { kind: 'supersede' };
  if (candidate.list === 'pigeonholes' && !sink.selected.has(candidate.key)) {
    return { kind: 'withhold', reason: notSelected };
  }
  const accepted = candidate.consent === null ? acceptsAll(sink.accepts) : sink.accepts.has(candidate.consent);
  if (candidate.list === 'attendees') {
    // A deletion holds nothing of the person. Where they were never told of, that they existed is not told either.
    if (candidate.kind === 'deleted' && candidate.toldBefore) return { kind: 'send', identity: false };
    return accepted
      ? { kind: 'send', identity: true }
      : { kind: 'withhold', reason: consentReason(candidate.consent ?? 'not-known') };
  }
  if (candidate.visibility === null) return { kind: 'send', identity: true };
  // A repeat may take the person away from what an earlier attempt showed, and never add it.
  const identity = candidate.visibility === 'named' && accepted && candidate.sentWithIdentity !== false;
  return { kind: 'send', identity };
}

/** Why a person's own record is withheld: what they said is not what the sink accepts. */
export function consentReason(consent: Consent): string {
  return `consent-${consent}`;
}

/** A record that was not read yet may say anything: only who accepts everything may go on without it. */
function acceptsAll(accepts: ReadonlySet<Consent>): boolean {
  return consentStates.every((state) => accepts.has(state));
}
