import { isLacking } from '../sinks/all-reasons.js';
import { whileIdentityHidden } from '../sinks/reasons.js';
import { withoutIdentity, ownRecords } from '../ledger/visibility.js';
import type { Queryable } from '../ledger/drivers/database.js';
import type { Planned, Sink, Subject, Fields } from '../sinks/sink.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { ShownChange } from './candidates.js';
import { mayLackPerson, type SinkMapping } from './missing-values.js';
import {
  fieldsIn,
  noRelatedItems,
  readRelatedItems,
  readSiblings,
  type RelatedItems,
  type SubjectsLane,
} from './related-items.js';
import type { Settlement } from './send-batch.js';

/** Reads what the sink needs to plan these changes, and returns its plans in the same order. */
export async function planChanges(
  tx: Queryable,
  sink: Pick<Sink, 'plan'>,
  lane: SubjectsLane,
  changes: readonly ShownChange[],
): Promise<Planned[]> {
  const planned = await sink.plan(await readSubjects(tx, lane, changes));
  return planned.map((plan, index) => withHiddenReason(plan, changes[index]!, lane.mapping));
}

/**
 * If the mapping found no value for a change whose identity is hidden, and the value may be one of the person, lets the
 * reason say so: whatever the sink is, the mapping cannot be blamed for it. Pure.
 */
export function withHiddenReason<Result extends Planned | Settlement>(
  result: Result,
  { list, identity }: Pick<ShownChange, 'list' | 'identity'>,
  mapping: SinkMapping,
): Result {
  if (identity || result.kind !== 'nothing' || !isLacking(result.reason)) return result;
  if (!mayLackPerson(mapping, { list, reason: result.reason })) return result;
  return { ...result, reason: whileIdentityHidden(result.reason) };
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
  const { payload, identity } = shown;
  const dataJson = identity ? (payload ?? undefined) : undefined; // the stored text, if it is sent as stored
  const again = shown.repair ? ({ again: true } as const) : {};
  return { ...related, ...again, change: toChange(shown, place), dataJson, removal: removalOf(shown) };
}

function removalOf(shown: ShownChange): Subject['removal'] {
  if (shown.erased !== null) return 'erased';
  if (shown.kind === 'deleted') return 'deleted';
  return takesBack(shown) ? 'consent-withdrawn' : null;
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
  const fields = fieldsIn(shown.payload);
  return fields === null || shown.identity ? fields : withoutIdentity(fields);
}
