import { withoutIdentity } from '../ledger/identity.js';
import { ownRecords } from '../ledger/visibility.js';
import type { Candidate } from './candidates.js';
import type { RelatedItems } from './related-items.js';
import type { Fields, Subject } from '../sinks/sink.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';

/** For sinks that plan from the change only. */
export const noRelatedItems: RelatedItems = {
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  object: null,
};

/** Builds the subject of a change. If the identity is not visible, it contains nothing of the person. */
export function toSubject(
  candidate: Candidate,
  around: RelatedItems,
  { identity, place }: { readonly identity: boolean; readonly place: PigeonholeName },
): Subject {
  const previous = parsed(around.previous);
  return {
    change: toChange(candidate, identity, place),
    dataJson: storedData(candidate, identity),
    previous:
      previous === null || identity ? previous : ownRecords.has(candidate.list) ? null : withoutIdentity(previous),
    attendee: identity ? parsed(around.attendee) : null,
    session: parsed(around.session),
    pigeonhole: parsed(around.pigeonhole),
    object: parsed(around.object),
    removal: removalOf(candidate, identity),
  };
}

function removalOf(candidate: Candidate, identity: boolean): Subject['removal'] {
  if (candidate.erased !== null) return 'erased';
  if (candidate.kind === 'deleted') return 'deleted';
  return takesBack(candidate, identity) ? 'consent-withdrawn' : null;
}

function parsed(payload: string | null): Fields | null {
  return payload === null ? null : (JSON.parse(payload) as Fields);
}

/**
 * Builds the envelope of a change. Deterministic: a repeat has the same bytes, unless the identity is no longer visible.
 * A replayed change has its own id, so that a receiver that remembers ids accepts it again.
 */
export function toChange(candidate: Candidate, identity: boolean, place: PigeonholeName): Change {
  const isRemoval = takesBack(candidate, identity);
  let data: Fields | null | undefined;
  return {
    id: candidate.replayId === null ? candidate.id : replayedChangeId(candidate.replayId, candidate.id),
    type: `${candidate.list}.${isRemoval ? 'deleted' : candidate.kind}`,
    timestamp: candidate.foundAt.toISOString(),
    workspace: place.workspace,
    pigeonholeId: place.pigeonholeId,
    sessionId: candidate.sessionId,
    list: candidate.list,
    key: candidate.key,
    revision: candidate.revision,
    sequence: candidate.sequence,
    // Parsed when a sink first reads it: file, s3 and webhook use the stored text (`dataJson`).
    get data() {
      if (data === undefined) data = isRemoval ? null : dataOf(candidate, identity);
      return data;
    },
    ...(candidate.replayId === null ? {} : { replay: candidate.replayId }),
  };
}

/** Returns the stored JSON text of the change's `data` if it is sent as stored, with the identity. */
export function storedData(candidate: Candidate, identity: boolean): string | undefined {
  return identity && candidate.payload !== null ? candidate.payload : undefined;
}

/** A person's own record is sent without identity only after they withdrew consent, as a removal. */
export function takesBack({ list, kind }: Pick<Candidate, 'list' | 'kind'>, identity: boolean): boolean {
  return ownRecords.has(list) && kind !== 'deleted' && !identity;
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}
