import type { Queryable } from '../ledger/drivers/database.js';
import { readableJson } from '../ledger/readable-json.js';
import type { Sink, Subject } from '../sinks/sink.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import { type Candidate, candidateColumns, candidateJoins, type CandidateRow, toCandidates } from './candidates.js';
import { decideDelivery, type DecidingSink } from './decide-delivery.js';
import { readRelatedItems } from './related-items.js';
import { noRelatedItems, toSubject } from './to-subject.js';

/** A sink's lane, for reading what its plans use. */
export interface SubjectsLane {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly ref: number;
  readonly place: PigeonholeName;
  readonly traits: Sink['traits'];
  readonly accepts: DecidingSink['accepts'];
}

/** A change with the decision whether the sink may see whose it is. */
export type Shown = { readonly candidate: Candidate; readonly identity: boolean };

/** Reads what the sink needs to plan these changes, in their order. */
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
  const around = traits.needsContext ? await readRelatedItems(tx, lane, candidates) : [];
  return shown.map(({ candidate, identity }, index) =>
    toSubject(candidate, around[index] ?? noRelatedItems, { identity, place }),
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
 * Returns the siblings of each change as they are now: the items of its list in which the same attendee answered the
 * same question, and those that its object names as `members`. Each is shown by a decision of its own.
 */
async function readSiblings(
  tx: Queryable,
  lane: SubjectsLane,
  candidates: readonly Pick<Candidate, 'list' | 'key'>[],
): Promise<Subject[][]> {
  const { sinkId, ref, accepts } = lane;
  const rows = await tx.query<SiblingRow>(
    `select n.n::int as n, ${candidateColumns}, null::boolean as identity, 0 as attempts, false as others_passed_since,
       false as blocked, 0 as replay, null::uuid as replay_id
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
