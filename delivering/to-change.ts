import { withoutIdentity } from '../ledger/identity.js';
import type { Fields } from '../ledger/item-form.js';
import { ownRecords } from '../ledger/own-records.js';
import type { Candidate } from './candidates.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { PigeonholeName } from '../work/turns.js';

/**
 * Builds the envelope of a change. Deterministic: a repeat gives the same bytes, unless the person may no longer be
 * shown. A replayed change has its own id, so that a receiver that remembers ids accepts it again.
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

/** Returns the JSON text of the change's `data` where it is the stored text, without the person taken out. */
export function storedData(candidate: Candidate, identity: boolean): string | undefined {
  return identity && candidate.payload !== null ? candidate.payload : undefined;
}

/** A person's own record goes out without them only when they have withdrawn consent: the sink is told to forget them. */
export function takesBack({ list, kind }: Pick<Candidate, 'list' | 'kind'>, identity: boolean): boolean {
  return ownRecords.has(list) && kind !== 'deleted' && !identity;
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}
