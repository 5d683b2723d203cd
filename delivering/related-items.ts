import type { Queryable } from '../ledger/drivers/database.js';
import { readableJson } from '../ledger/sql-expressions.js';
import { ownRecords, withoutIdentity } from '../ledger/visibility.js';
import type { Fields, Sink, Subject } from '../sinks/sink.js';
import {
  candidateColumns,
  candidateJoins,
  type CandidateRow,
  type ShownChange,
  toCandidates,
  withoutDelivery,
} from './candidates.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { decideDelivery, type DecidingSink } from './decide-delivery.js';
import type { SinkMapping } from './missing-values.js';

/** The lane of a sink for which subjects are read. */
export interface SubjectsLane {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly place: PigeonholeName;
  readonly traits: Sink['traits'];
  readonly accepts: DecidingSink['accepts'];
  readonly mapping: SinkMapping;
}

/** The part of a subject that is not its change: the related items, as currently stored. */
export type RelatedItems = Pick<Subject, 'previous' | 'attendee' | 'session' | 'pigeonhole' | 'object' | 'neverSent'>;

/** For sinks that need only the change itself to plan. */
export const noRelatedItems: RelatedItems = {
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  object: null,
  neverSent: false,
};

/**
 * SQL condition: the ledger shows for every earlier revision of the item of change `c` that the sink never received it.
 * A revision without a delivery may be in the present batch. Follows the item's changes one by one, because no index
 * finds its settled deliveries. $1 is the sink, $2 the pigeonhole.
 */
const neverSent = `not exists (
  with recursive earlier (sequence) as (
    select c.previous_sequence
    union all
    select e.previous_sequence from earlier r cross join lateral (
      select previous_sequence from changes where pigeonhole_number = $2 and sequence = r.sequence limit 1) e)
  select 1 from earlier r where r.sequence is not null and (select bool_and(state in ('withheld', 'superseded'))
    from deliveries where sink_id = $1 and pigeonhole_number = $2 and sequence = r.sequence) is not true)`;

type RelatedRow = Record<'previous' | 'attendee' | 'session' | 'pigeonhole' | 'object', string | null> & {
  readonly n: number;
  readonly neverSent: boolean;
};

/**
 * Returns the related items of each change, in the order of the changes, without what would identify a person whose
 * identity is hidden. One statement makes one look-up for each row (decision 0038).
 */
export async function readRelatedItems(
  tx: Queryable,
  { sinkId, pigeonholeNumber, traits }: SubjectsLane,
  changes: readonly ShownChange[],
): Promise<RelatedItems[]> {
  if (changes.length === 0) return [];
  const rows = await tx.query<RelatedRow>(
    `select n.n::int as n, b.snapshot as previous,
       case when n.list = 'attendees' or a.expired then null else a.payload end as attendee,
       case when n.list = 'sessions' then i.payload else s.payload end as session,
       w.payload as pigeonhole, o.object, case when $6 and c.kind = 'deleted' then ${neverSent} else false end as "neverSent"
     from unnest($3::int8[], $4::text[], $5::text[]) with ordinality as n (sequence, list, key, n)
       cross join lateral (select * from pigeonholes where pigeonhole_number = $2 limit 1) p
       cross join lateral (select * from items where pigeonhole_number = $2 and list = n.list and key = n.key limit 1) i
       cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = n.sequence limit 1) c
       left join lateral (select * from changes where pigeonhole_number = $2 and sequence = c.previous_sequence
         limit 1) b on true
       left join lateral (select * from items
         where pigeonhole_number = $2 and list = 'attendees' and key = i.attendee_id::text limit 1) a on true
       left join lateral (select * from items
         where pigeonhole_number = $2 and list = 'sessions' and key = coalesce(i.session_id, c.session_id)::text
           limit 1) s on true
       left join lateral (select pigeonhole_number from pigeonholes where workspace = p.workspace and pigeonhole_id = 0
         limit 1) r on true
       left join lateral (select * from items where pigeonhole_number = r.pigeonhole_number and list = 'pigeonholes'
         and key = case when p.pigeonhole_id = 0 then n.key else p.pigeonhole_id::text end limit 1) w on true
       left join lateral (select * from sink_objects
         where sink_id = $1 and pigeonhole_number = $2 and list = n.list and key = n.key limit 1) o on true
     order by n.n`,
    [
      sinkId,
      pigeonholeNumber,
      changes.map(({ sequence }) => sequence),
      changes.map(({ list }) => list),
      changes.map(({ key }) => key),
      traits.revisions === 'every',
    ],
  );
  return rows.map((row, index) => {
    const { list, identity } = changes[index]!;
    const previous = identity || !ownRecords.has(list) ? fieldsIn(row.previous) : null;
    return {
      previous: previous === null || identity ? previous : withoutIdentity(previous),
      attendee: identity ? fieldsIn(row.attendee) : null,
      session: fieldsIn(row.session),
      pigeonhole: fieldsIn(row.pigeonhole),
      object: fieldsIn(row.object),
      neverSent: row.neverSent,
    };
  });
}

/** Parses a stored item or object; null if there is none. */
export function fieldsIn(json: string | null): Fields | null {
  return json === null ? null : (JSON.parse(json) as Fields);
}

/** SQL for the id of the question that an item answers. */
function questionOf(payload: string): string {
  return `${readableJson(payload)} -> 'question' ->> 'id'`;
}

/**
 * For each change in one of the sink's `siblingLists`, returns its current siblings: the items of its list in which the
 * same attendee answered the same question, and the items that its object names as `members`. Whether the sink may see
 * the identity is decided for each sibling separately.
 * @returns undefined for the other changes
 */
export async function readSiblings(
  tx: Queryable,
  { sinkId, pigeonholeNumber, traits, accepts }: SubjectsLane,
  changes: readonly ShownChange[],
): Promise<(ShownChange[] | undefined)[]> {
  const siblings = changes.map(({ list }): ShownChange[] | undefined =>
    traits.siblingLists?.has(list) ? [] : undefined,
  );
  const joined = changes.map(({ list, key }, n) => ({ list, key, n })).filter(({ n }) => siblings[n] !== undefined);
  if (joined.length === 0) return siblings;
  const rows = await tx.query<CandidateRow & { n: number }>(
    `select n.n, ${candidateColumns}, ${withoutDelivery}, false as blocked
     from unnest($3::text[], $4::text[], $5::int4[]) as n (list, key, n)
       cross join lateral (select * from items where pigeonhole_number = $2 and list = n.list and key = n.key
         limit 1) own
       left join lateral (select object from sink_objects
         where sink_id = $1 and pigeonhole_number = $2 and list = n.list and key = n.key limit 1) o on true
       cross join lateral (
         select s.key from items s where s.pigeonhole_number = $2 and s.attendee_id = own.attendee_id
           and s.visibility = 'named' and s.list <> 'attendees' and s.list = n.list
           and ${questionOf('s.payload')} = ${questionOf('own.payload')}
         union
         select m.key from json_array_elements_text(coalesce(o.object -> 'members', '[]'::json)) as m (key)) k
       cross join lateral (select last_sequence from items where pigeonhole_number = $2 and list = n.list
         and key = k.key limit 1) s
       cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = s.last_sequence limit 1) c
       ${candidateJoins}
     where k.key <> n.key order by n.n, k.key`,
    [sinkId, pigeonholeNumber, joined.map(({ list }) => list), joined.map(({ key }) => key), joined.map(({ n }) => n)],
  );
  const terms: DecidingSink = {
    lists: [...traits.siblingLists!],
    accepts,
    revisions: 'latest',
    selected: new Set(),
    onConsentWithdrawn: 'keep',
    mayForget: () => false,
  };
  for (const [index, candidate] of (await toCandidates(tx, pigeonholeNumber, rows)).entries()) {
    const decision = decideDelivery(candidate, terms);
    siblings[rows[index]!.n]!.push({ ...candidate, identity: decision.kind === 'send' && decision.identity });
  }
  return siblings;
}
