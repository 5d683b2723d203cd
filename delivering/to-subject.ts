import { withoutIdentity } from '../ledger/identity.js';
import { ownRecords } from '../ledger/own-records.js';
import type { Candidate } from './candidates.js';
import type { Surroundings } from './surroundings.js';
import type { Fields, Subject } from '../sinks/sink.js';
import { storedData, takesBack, toChange } from './to-change.js';
import type { PigeonholeName } from '../work/turns.js';

/** For a sink that looks at nothing but the change. */
export const nothingAround: Surroundings = {
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  object: null,
};

/** A change with what stands around it, less the person where they may not be shown. */
export function toSubject(
  candidate: Candidate,
  around: Surroundings,
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
