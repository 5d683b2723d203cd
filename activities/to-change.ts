import { withoutIdentity } from '../ledger/identity.js';
import type { Fields } from '../ledger/item-form.js';
import type { Candidate } from '../ledger/queries/candidates.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { PigeonholeName } from './turns.js';

/**
 * The envelope of a change. Deterministic: a repeat gives the same bytes, unless the person may no longer be shown.
 * What a replay emits has an id of its own, so that a receiver that keeps ids takes it.
 */
export function toChange(candidate: Candidate, identity: boolean, place: PigeonholeName): Change {
  return {
    id: candidate.replayId === null ? candidate.id : replayedChangeId(candidate.replayId, candidate.id),
    type: `${candidate.list}.${candidate.kind}`,
    timestamp: candidate.foundAt.toISOString(),
    workspace: place.workspace,
    pigeonholeId: place.pigeonholeId,
    sessionId: candidate.sessionId,
    list: candidate.list,
    key: candidate.key,
    revision: candidate.revision,
    sequence: candidate.sequence,
    data: dataOf(candidate, identity),
    ...(candidate.replayId === null ? {} : { replay: candidate.replayId }),
  };
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}
