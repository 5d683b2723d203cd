import { engagementList } from '../ledger/engagement.js';
import { ownRecords } from '../ledger/identity.js';
import { withdrawalsHeld } from '../ledger/withdrawals.js';
import { notSelected } from './adopt-configuration.js';
import type { Decision } from './begin-batch.js';
import type { Candidate } from './candidates.js';
import { type Consent, consentStates } from '../ledger/seen-item.js';

export interface DecidingSink {
  readonly accepts: ReadonlySet<Consent>;
  readonly revisions: 'every' | 'latest';
  /** Keys of the pigeonholes that its syncs have selected. */
  readonly selected: ReadonlySet<string>;
  /** What becomes of what was sent of someone who refuses now. */
  readonly onConsentWithdrawn: 'keep' | 'forget';
  /** Spends one of the withdrawals that need no person's word; false: there are none left. */
  readonly mayForget: () => boolean;
}

/**
 * What happens with a change at a sink. Pure; judged at the moment of sending, from current rows. A person's own
 * record is withheld where the sink does not accept their consent; what they did goes out, without them. What was sent
 * of someone who then refuses is taken back where the sink is to forget: that goes out without identity.
 */
export function decideDelivery(candidate: Candidate, sink: DecidingSink): Decision {
  if (sink.revisions === 'latest' && !candidate.latest) return { kind: 'supersede' };
  // Its text is gone (removed on purpose), and a `created` without data would say something else.
  if (candidate.payload === null && candidate.kind !== 'deleted') return { kind: 'supersede' };
  if (candidate.erased !== null) return takeBackErased(candidate);
  if (candidate.list === 'pigeonholes' && !sink.selected.has(candidate.key)) {
    return { kind: 'withhold', reason: notSelected };
  }
  const accepted = candidate.consent === null ? acceptsAll(sink.accepts) : sink.accepts.has(candidate.consent);
  if (ownRecords.has(candidate.list)) {
    // A deletion holds nothing of the person. Where they were never told of, that they existed is not told either.
    if (candidate.kind === 'deleted' && candidate.toldBefore) return { kind: 'send', identity: false };
    if (accepted) return { kind: 'send', identity: true };
    return isWithdrawn(candidate, sink)
      ? forget(candidate, sink)
      : { kind: 'withhold', reason: consentReason(candidate.consent ?? 'not-known') };
  }
  if (candidate.visibility === null) return { kind: 'send', identity: true };
  // A repeat may take the person away from what an earlier attempt showed, and never add it.
  const identity = candidate.visibility === 'named' && accepted && candidate.sentWithIdentity !== false;
  return { kind: 'send', identity };
}

/** That an item is gone is told to whoever was told of it, whatever was configured since; no one else hears that it was. */
function takeBackErased({ erased }: Candidate): Decision {
  return erased === 'told' ? { kind: 'send', identity: false } : { kind: 'withhold', reason: erasedReason };
}

/** Why nothing was said of an erased item: nothing had been said before. */
export const erasedReason = 'erased';

/** The person has said no, and the sink, which is to forget then, holds what was sent of them. */
export function isWithdrawn(
  candidate: Candidate,
  { onConsentWithdrawn }: Pick<DecidingSink, 'onConsentWithdrawn'>,
): boolean {
  const { kind, consent, latest, toldBefore, sentWithIdentity, replay } = candidate;
  return (
    onConsentWithdrawn === 'forget' &&
    kind !== 'deleted' &&
    consent === 'refused' &&
    latest &&
    replay === 0 &&
    (toldBefore || sentWithIdentity !== null)
  );
}

/** Many at once are rather a mistake at the source: they wait for a person, who redrives them. */
function forget({ list, sentWithIdentity }: Candidate, { mayForget }: DecidingSink): Decision {
  // begun before, or a person has said so; what is counted of somebody follows their record, which is counted here
  const isUnderWay = sentWithIdentity === false || list === engagementList;
  if (isUnderWay || mayForget()) return { kind: 'send', identity: false };
  return {
    kind: 'park',
    cause: withdrawalsHeld,
    detail:
      'so many people have withdrawn consent at once that a person has to look: redrive these to have them removed',
  };
}

/** Why a person's own record is withheld: what they said is not what the sink accepts. */
export function consentReason(consent: Consent): string {
  return `consent-${consent}`;
}

/** A record that was not read yet may say anything: only who accepts everything may go on without it. */
function acceptsAll(accepts: ReadonlySet<Consent>): boolean {
  return consentStates.every((state) => accepts.has(state));
}

/**
 * Reasons under which a sink's mapping makes nothing of an item because a value is missing. A changed mapping may cure
 * them; consent, an unchanged record or a deletion is none of them.
 */
const lacking: ReadonlySet<string> = new Set([
  'no-match',
  'no-email',
  'no-key',
  'no-user',
  'no-actor',
  'no-assignment',
  'no-grade',
  'no-activity',
  'no-attendance',
  'no-text',
  'no-value',
]);

/** True for reasons that mean: the mapping found no value where it needs one. */
export function isLacking(reason: string): boolean {
  return lacking.has(reason);
}

/** Reasons that the mapping of a sink decides, so that another mapping may decide otherwise. */
export const mappingReasons: readonly string[] = [...lacking, 'condition', 'no-record'];
