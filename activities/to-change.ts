import { withoutIdentity } from '../ledger/identity.js';
import type { Fields } from '../ledger/item-form.js';
import type { Candidate } from '../ledger/queries/begin-batch.js';
import type { Change } from '../sinks/change.js';
import type { PigeonholeName } from './turns.js';

/** The envelope of a change. Deterministic: a repeat gives the same bytes, unless the person may no longer be shown. */
export function toChange(candidate: Candidate, identity: boolean, place: PigeonholeName): Change {
  return {
    id: candidate.id,
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
  };
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}
