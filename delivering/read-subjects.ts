import type { Queryable } from '../ledger/drivers/database.js';
import { readableJson } from '../ledger/readable-json.js';
import type { Sink, Subject, Fields } from '../sinks/sink.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import {
  type Candidate,
  candidateColumns,
  candidateJoins,
  type CandidateRow,
  toCandidates,
  withoutDelivery,
} from './candidates.js';
import { decideDelivery, type DecidingSink } from './decide-delivery.js';
import { withoutIdentity } from '../ledger/identity.js';
import { ownRecords } from '../ledger/visibility.js';
import { replayedChangeId } from '../ledger/keyed-hash.js';
import type { Change } from '../sinks/change.js';
import type { Ledger } from '../ledger/ledger.js';

/** The lane of a sink for which subjects are read. */
export interface SubjectsLane {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly ref: number;
  readonly place: PigeonholeName;
  readonly traits: Sink['traits'];
  readonly accepts: DecidingSink['accepts'];
}

/** A change, and whether the sink may see the person's identity. */
export type Shown = { readonly candidate: Candidate; readonly identity: boolean };

/** Returns the subjects of these changes, in the same order: the data that the sink needs to plan each of them. */
export async function readSubjects(tx: Queryable, lane: SubjectsLane, shown: readonly Shown[]): Promise<Subject[]> {
  const { traits } = lane;
  const subjects = await subjectsOf(tx, lane, shown);
  const isJoined = shown.map(({ candidate }) => traits.siblingLists?.has(candidate.list) === true);
  if (!isJoined.includes(true)) return subjects;
  const siblings = await readSiblings(
    tx,
    lane,
    shown.map(({ candidate }) => candidate).filter((_, index) => isJoined[index]),
  );
  return subjects.map((subject, index) =>
    isJoined[index] ? { ...subject, siblings: siblings.shift() ?? [] } : subject,
  );
}

async function subjectsOf(tx: Queryable, lane: SubjectsLane, shown: readonly Shown[]): Promise<Subject[]> {
  const { traits, place } = lane;
  const candidates = shown.map(({ candidate }) => candidate);
  const related = traits.needsContext ? await readRelatedItems(tx, lane, candidates) : [];
  return shown.map(({ candidate, identity }, index) =>
    toSubject(candidate, related[index] ?? noRelatedItems, { identity, place }),
  );
}

/** SQL for the id of the question that an item answers. */
function questionOf(payload: string): string {
  return `${readableJson(payload)} -> 'question' ->> 'id'`;
}

interface SiblingRow extends CandidateRow {
  n: number;
}

/**
 * Returns the current siblings of each change: the items of its list in which the same attendee answered the same
 * question, and the items that its object names as `members`. Whether the sink may see the identity is decided for each
 * sibling separately.
 */
async function readSiblings(
  tx: Queryable,
  lane: SubjectsLane,
  candidates: readonly Pick<Candidate, 'list' | 'key'>[],
): Promise<Subject[][]> {
  const { sinkId, ref, accepts } = lane;
  const rows = await tx.query<SiblingRow>(
    `select n.n::int as n, ${candidateColumns}, ${withoutDelivery}, false as blocked
     from unnest($3::text[], $4::text[]) with ordinality as n (list, key, n)
       cross join lateral (select * from items where ref = $2 and list = n.list and key = n.key limit 1) own
       left join lateral (select object from sink_objects
         where sink_id = $1 and ref = $2 and list = n.list and key = n.key limit 1) o on true
       cross join lateral (
         select s.key from items s where s.ref = $2 and s.attendee_id = own.attendee_id and s.visibility = 'named'
           and s.list <> 'attendees' and s.list = n.list
           and ${questionOf('s.payload')} = ${questionOf('own.payload')}
         union
         select m.key from json_array_elements_text(coalesce(o.object -> 'members', '[]'::json)) as m (key)) k
       cross join lateral (select last_sequence from items where ref = $2 and list = n.list and key = k.key limit 1) s
       cross join lateral (select * from changes where ref = $2 and sequence = s.last_sequence limit 1) c
       ${candidateJoins}
     where k.key <> n.key order by n.n, k.key`,
    [sinkId, ref, candidates.map(({ list }) => list), candidates.map(({ key }) => key)],
  );
  const terms: DecidingSink = {
    accepts,
    revisions: 'latest',
    selected: new Set(),
    onConsentWithdrawn: 'keep',
    mayForget: () => false,
  };
  const found = await toCandidates(tx, ref, rows);
  const shown = found.map((candidate) => {
    const decision = decideDelivery(candidate, terms);
    return { candidate, identity: decision.kind === 'send' && decision.identity };
  });
  const subjects = await subjectsOf(tx, lane, shown);
  const byChange = candidates.map((): Subject[] => []);
  for (const [index, { n }] of rows.entries()) byChange[n - 1]!.push(subjects[index]!);
  return byChange;
}

/** The items related to a change, as currently stored. Texts are canonical JSON; null if there is none. */
export interface RelatedItems {
  /** The item at its previous change. */
  readonly previous: string | null;
  /** The record of the item's attendee, whether or not the identity is visible. */
  readonly attendee: string | null;
  readonly session: string | null;
  readonly pigeonhole: string | null;
  /** The item's object from the sink's last outcome. */
  readonly object: string | null;
}

interface RelatedItemsRow extends RelatedItems {
  n: number;
}

/**
 * Returns the related items of each change, in the order of the changes. One statement makes one look-up for each row
 * (decision 0038).
 */
async function readRelatedItems(
  tx: Queryable,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
  candidates: readonly Pick<Candidate, 'sequence' | 'list' | 'key'>[],
): Promise<RelatedItems[]> {
  if (candidates.length === 0) return [];
  const rows = await tx.query<RelatedItemsRow>(
    `select n.n::int as n, b.snapshot as previous,
       case when n.list = 'attendees' or a.expired then null else a.payload end as attendee,
       case when n.list = 'sessions' then i.payload else s.payload end as session,
       w.payload as pigeonhole, o.object
     from unnest($3::int8[], $4::text[], $5::text[]) with ordinality as n (sequence, list, key, n)
       cross join lateral (select * from pigeonholes where ref = $2 limit 1) p
       cross join lateral (select * from items where ref = $2 and list = n.list and key = n.key limit 1) i
       cross join lateral (select * from changes where ref = $2 and sequence = n.sequence limit 1) c
       left join lateral (select * from changes where ref = $2 and sequence = c.previous_sequence limit 1) b on true
       left join lateral (select * from items
         where ref = $2 and list = 'attendees' and key = i.attendee_id::text limit 1) a on true
       left join lateral (select * from items
         where ref = $2 and list = 'sessions' and key = coalesce(i.session_id, c.session_id)::text limit 1) s on true
       left join lateral (select ref from pigeonholes where workspace = p.workspace and pigeonhole_id = 0 limit 1) r on true
       left join lateral (select * from items where ref = r.ref and list = 'pigeonholes'
         and key = case when p.pigeonhole_id = 0 then n.key else p.pigeonhole_id::text end limit 1) w on true
       left join lateral (select * from sink_objects
         where sink_id = $1 and ref = $2 and list = n.list and key = n.key limit 1) o on true
     order by n.n`,
    [
      sinkId,
      ref,
      candidates.map(({ sequence }) => sequence),
      candidates.map(({ list }) => list),
      candidates.map(({ key }) => key),
    ],
  );
  return rows.map(({ n: _, ...items }) => items);
}

/** For sinks that need only the change itself to plan. */
const noRelatedItems: RelatedItems = {
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  object: null,
};

/**
 * Builds the subject of a change. If the identity is not visible, the subject contains nothing that identifies the
 * person.
 */
function toSubject(
  candidate: Candidate,
  related: RelatedItems,
  { identity, place }: { readonly identity: boolean; readonly place: PigeonholeName },
): Subject {
  const previous = parsed(related.previous);
  return {
    change: toChange(candidate, identity, place),
    dataJson: storedData(candidate, identity),
    previous:
      previous === null || identity ? previous : ownRecords.has(candidate.list) ? null : withoutIdentity(previous),
    attendee: identity ? parsed(related.attendee) : null,
    session: parsed(related.session),
    pigeonhole: parsed(related.pigeonhole),
    object: parsed(related.object),
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
 * Builds the envelope of a change. Deterministic: a repeat has the same bytes, unless the identity is no longer
 * visible. A replayed change has its own id, so that a receiver that remembers ids accepts it again.
 */
function toChange(candidate: Candidate, identity: boolean, place: PigeonholeName): Change {
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
    // Parsed only when a sink reads it: file, s3 and webhook use the stored text (`dataJson`).
    get data() {
      if (data === undefined) data = isRemoval ? null : dataOf(candidate, identity);
      return data;
    },
    ...(candidate.replayId === null ? {} : { replay: candidate.replayId }),
  };
}

/** Returns the stored JSON text of the change's `data` if it is sent as stored, with the identity. */
function storedData(candidate: Candidate, identity: boolean): string | undefined {
  return identity && candidate.payload !== null ? candidate.payload : undefined;
}

/**
 * Returns true if the change is sent as a removal although the item still exists: a person's own record is sent without
 * identity only after they withdrew consent.
 */
function takesBack({ list, kind }: Pick<Candidate, 'list' | 'kind'>, identity: boolean): boolean {
  return ownRecords.has(list) && kind !== 'deleted' && !identity;
}

function dataOf({ payload }: Candidate, identity: boolean): Fields | null {
  if (payload === null) return null;
  const fields = JSON.parse(payload) as Fields;
  return identity ? fields : withoutIdentity(fields);
}

const pageSize = 2000;

/** Yields the objects of a sink's last outcomes over all its lanes, in no particular order. Reads page by page. */
export async function* objectsOfSink(
  ledger: Ledger,
  sinkId: number,
): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
  let after: { ref: number; list: string; key: string } = { ref: 0, list: '', key: '' };
  for (;;) {
    const rows = await ledger.db.query<{ ref: number; list: string; key: string; object: string }>(
      `select ref, list, key, object from sink_objects where sink_id = $1 and (ref, list, key) > ($2, $3, $4)
       order by ref, list, key limit $5`,
      [sinkId, after.ref, after.list, after.key, pageSize],
    );
    for (const { object } of rows) yield JSON.parse(object) as Record<string, unknown>;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!;
  }
}
