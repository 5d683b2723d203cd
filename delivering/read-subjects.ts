import { withoutIdentity, ownRecords } from '../ledger/visibility.js';
import type { Queryable } from '../ledger/drivers/database.js';
import type { Sink, Subject, Fields } from '../sinks/sink.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import type { DecidingSink } from './decide-delivery.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { ShownChange } from './candidates.js';
import { noRelatedItems, readRelatedItems, readSiblings, type RelatedItems } from './related-items.js';

/** The lane of a sink for which subjects are read. */
export interface SubjectsLane {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly ref: number;
  readonly place: PigeonholeName;
  readonly traits: Sink['traits'];
  readonly accepts: DecidingSink['accepts'];
}

/** Returns the subjects of these changes, in the same order: the data that the sink needs to plan each of them. */
export async function readSubjects(
  tx: Queryable,
  lane: SubjectsLane,
  changes: readonly ShownChange[],
): Promise<Subject[]> {
  const subjects = await subjectsOf(tx, lane, changes);
  const siblings = await readSiblings(tx, lane, changes);
  const related = await subjectsOf(
    tx,
    lane,
    siblings.flatMap((each) => each ?? []),
  );
  return subjects.map((subject, index) => {
    const own = siblings[index];
    return own === undefined ? subject : { ...subject, siblings: related.splice(0, own.length) };
  });
}

async function subjectsOf(tx: Queryable, lane: SubjectsLane, changes: readonly ShownChange[]): Promise<Subject[]> {
  const related = lane.traits.needsContext ? await readRelatedItems(tx, lane, changes) : [];
  return changes.map((change, index) => toSubject(change, related[index] ?? noRelatedItems, lane.place));
}

/**
 * Builds the subject of a change. If the identity is not visible, the subject contains nothing that identifies the
 * person.
 */
function toSubject(shown: ShownChange, related: RelatedItems, place: PigeonholeName): Subject {
  const { list, payload, identity } = shown;
  const previous = identity || !ownRecords.has(list) ? parsed(related.previous) : null;
  return {
    change: toChange(shown, place),
    dataJson: identity ? (payload ?? undefined) : undefined, // the stored text, if it is sent as stored
    previous: previous === null || identity ? previous : withoutIdentity(previous),
    attendee: identity ? parsed(related.attendee) : null,
    session: parsed(related.session),
    pigeonhole: parsed(related.pigeonhole),
    object: parsed(related.object),
    neverSent: related.neverSent,
    removal: removalOf(shown),
  };
}

function removalOf(shown: ShownChange): Subject['removal'] {
  if (shown.erased !== null) return 'erased';
  if (shown.kind === 'deleted') return 'deleted';
  return takesBack(shown) ? 'consent-withdrawn' : null;
}

function parsed(payload: string | null): Fields | null {
  return payload === null ? null : (JSON.parse(payload) as Fields);
}

/**
 * Builds the envelope of a change. Deterministic: a repeat has the same bytes, unless the identity is no longer
 * visible. A replayed change has its own id, so that a receiver that remembers ids accepts it again.
 */
function toChange(shown: ShownChange, place: PigeonholeName): Change {
  const { id, list, kind, key, revision, sequence, sessionId, replayId } = shown;
  let data: Fields | null | undefined;
  return {
    id: replayId === null ? id : replayedChangeId(replayId, id),
    type: `${list}.${takesBack(shown) ? 'deleted' : kind}`,
    timestamp: shown.foundAt.toISOString(),
    workspace: place.workspace,
    pigeonholeId: place.pigeonholeId,
    sessionId,
    list,
    key,
    revision,
    sequence,
    // Parsed only when a sink reads it: file, s3 and webhook use the stored text (`dataJson`).
    get data() {
      if (data === undefined) data = dataOf(shown);
      return data;
    },
    ...(replayId === null ? {} : { replay: replayId }),
  };
}

/**
 * Returns true if the change is sent as a removal although the item still exists: a person's own record is sent without
 * identity only after they withdrew consent.
 */
function takesBack({ list, kind, identity }: ShownChange): boolean {
  return ownRecords.has(list) && kind !== 'deleted' && !identity;
}

function dataOf(shown: ShownChange): Fields | null {
  if (takesBack(shown)) return null;
  const fields = parsed(shown.payload);
  return fields === null || shown.identity ? fields : withoutIdentity(fields);
}
