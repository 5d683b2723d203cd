import { engagementList } from '../base/lists.js';
import { listNotWanted } from '../ledger/lanes.js';
import { personRuleOf } from '../ledger/visibility.js';
import { withdrawalsHeld } from './dead-letters.js';
import type { Candidate, ShownChange } from './candidates.js';
import { type Consent, consentStates } from '../ledger/seen-item.js';

export type Decision =
  | { readonly kind: 'send'; readonly identity: boolean }
  | { readonly kind: 'withhold'; readonly reason: string }
  | { readonly kind: 'supersede' }
  /** Becomes a dead letter: an operator has to check it before it is sent. */
  | { readonly kind: 'park'; readonly cause: string; readonly detail: string };

/** The reason for withholding the record of a pigeonhole that none of the sink's syncs selected. */
export const notSelected = 'not-selected';

export interface DecidingSink {
  /** The lists that the sink receives on this lane. */
  readonly lists: readonly string[];
  readonly accepts: ReadonlySet<Consent>;
  readonly revisions: 'every' | 'latest';
  /** Keys of the pigeonholes that the sink's syncs selected. */
  readonly selected: ReadonlySet<string>;
  /** Treatment of data that was sent before a person withdrew consent. */
  readonly onConsentWithdrawn: 'keep' | 'forget';
  /** Uses up one of the removals that are allowed without an operator's confirmation. Returns false if none is left. */
  readonly mayForget: () => boolean;
}

/**
 * Decides whether a sink receives a change. Called at the moment of sending, with facts from current rows. Pure, except
 * for `mayForget`. If the sink does not accept the person's consent state, their own record is withheld, and their
 * other items are sent without the identity. If they withdrew consent after their record was sent and
 * `onConsentWithdrawn` is `forget`, a removal is sent.
 */
export function decideDelivery(candidate: Candidate, sink: DecidingSink): Decision {
  if (!sink.lists.includes(candidate.list)) return { kind: 'withhold', reason: listNotWanted };
  if (sink.revisions === 'latest' && !candidate.latest) return { kind: 'supersede' };
  // The ledger has dropped the change's data on purpose, and receivers would misread a `created` without data.
  if (candidate.payload === null && candidate.kind !== 'deleted') return { kind: 'supersede' };
  if (candidate.erased !== null) return takeBackErased(candidate);
  if (candidate.list === 'pigeonholes' && !sink.selected.has(candidate.key)) {
    return { kind: 'withhold', reason: notSelected };
  }
  const accepted = acceptsPerson(candidate.consent, sink.accepts);
  const rule = personRuleOf(candidate.list);
  if (rule === 'own-record') {
    // A deletion contains no personal data. But a sink that never received the person must not learn that they existed.
    if (candidate.kind === 'deleted' && candidate.sentBefore) return { kind: 'send', identity: false };
    if (accepted) return { kind: 'send', identity: true };
    return isWithdrawn(candidate, sink)
      ? forget(candidate, sink)
      : { kind: 'withhold', reason: consentReason(candidate.consent ?? 'not-known') };
  }
  if (rule === 'none') return { kind: 'send', identity: true };
  // A repeat may remove the identity that an earlier attempt contained, but never add it.
  const identity = candidate.visibility === 'named' && accepted && candidate.sentWithIdentity !== false;
  return { kind: 'send', identity };
}

/**
 * Returns the changes that are sent, in their order. Pure.
 * @param decisions one for each candidate
 */
export function shownChanges(candidates: readonly Candidate[], decisions: readonly Decision[]): ShownChange[] {
  return candidates.flatMap((candidate, index) => {
    const decision = decisions[index]!;
    return decision.kind === 'send' ? [{ ...candidate, identity: decision.identity }] : [];
  });
}

/**
 * Sends the removal of an erased item only to sinks that received the item, whatever the configuration is now.
 */
function takeBackErased({ erased }: Candidate): Decision {
  return erased === 'received' ? { kind: 'send', identity: false } : { kind: 'withhold', reason: erasedReason };
}

/** The reason for withholding the removal of an erased item from a sink that never received it. */
const erasedReason = 'erased';

/** Returns true if the person withdrew consent and the sink holds their data and has to forget it. */
export function isWithdrawn(
  candidate: Candidate,
  { onConsentWithdrawn }: Pick<DecidingSink, 'onConsentWithdrawn'>,
): boolean {
  const { kind, consent, latest, sentBefore, sentWithIdentity, replay, repair } = candidate;
  return (
    onConsentWithdrawn === 'forget' &&
    kind !== 'deleted' &&
    consent === 'refused' &&
    latest &&
    (replay === 0 || repair) &&
    (sentBefore || sentWithIdentity !== null)
  );
}

/**
 * Decides to send a removal. If an unusually large number of people withdrew consent, which may be a mistake in the
 * service, the removal becomes a dead letter until an operator confirms it.
 */
function forget({ list, sentWithIdentity, repair }: Candidate, { mayForget }: DecidingSink): Decision {
  // True if an earlier attempt started the removal, or an operator confirmed it or its repair. Engagement counts are removed along
  // with the person's record, so they do not use up a removal of their own.
  const isInProgress = sentWithIdentity === false || repair || list === engagementList;
  if (isInProgress || mayForget()) return { kind: 'send', identity: false };
  return {
    kind: 'park',
    cause: withdrawalsHeld,
    detail:
      'an unusually large number of people withdrew consent at the same time: check this in the service, then redrive these changes to remove the people from the sink',
  };
}

/** The reason for withholding a person's own record when the sink does not accept their consent state. */
export function consentReason(consent: Consent): string {
  return `consent-${consent}`;
}

/**
 * Whether a person with this consent may be shown to a receiver that accepts these states. Null: their record has not been
 * read yet. They may then have any consent, so only a receiver of everybody sees them.
 */
export function acceptsPerson(consent: Consent | null, accepts: ReadonlySet<Consent>): boolean {
  return consent === null ? consentStates.every((state) => accepts.has(state)) : accepts.has(consent);
}
