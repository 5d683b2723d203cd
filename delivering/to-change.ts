import { withoutIdentity } from '../ledger/identity.js';
import type { Fields } from '../ledger/item-form.js';
import { ownRecords } from '../ledger/own-records.js';
import type { Candidate } from './candidates.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { PigeonholeName } from '../work/turns.js';

/**
 * The envelope of a change. Deterministic: a repeat gives the same bytes, unless the person may no longer be shown.
 * What a replay emits has an id of its own, so that a receiver that keeps ids takes it.
 */
export function toChange(candidate: Candidate, identity: boolean, place: PigeonholeName): Change {
  const isRemoval = takesBack(candidate, identity);
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
    data: isRemoval ? null : dataOf(candidate, identity),
    ...(candidate.replayId === null ? {} : { replay: candidate.replayId }),
  };
}

/** A person's own record goes out without them only when they have withdrawn: then it says that they are to be forgotten. */
export function takesBack({ list, kind }: Pick<Candidate, 'list' | 'kind'>, identity: boolean): boolean {
  return ownRecords.has(list) && kind !== 'deleted' && !identity;
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}
