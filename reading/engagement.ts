import { listsCountedAs, serviceListsWhere, engagementList } from '../base/lists.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import type { Fields } from '../ledger/item-form.js';
import type { KeyedHash } from '../ledger/keyed-hash.js';
import type { SeenItem } from '../ledger/seen-item.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { listSet, readableJson } from '../ledger/sql-expressions.js';

/** Version of the counting rule. Raise it when the rule changes: pigeonpost then counts everything again. */
export const engagementRule = 1;

/** Lists whose named items count as activity. */
export const countedLists = serviceListsWhere(({ countsAs }) => countsAs !== null);

/** The counted lists whose items answer a prompt that the session offered. */
export const promptLists = listsCountedAs('answered');

/**
 * Maximum number of interactions listed as evidence. The earliest are listed, so that later ones never replace them.
 */
const maxEvidence = 100;

/**
 * Maximum length of a prompt id; longer ids are cut off, because an index entry is limited to 2,700 bytes. According to
 * the specification, an id is an integer.
 */
const maxPromptLength = 200;

/**
 * SQL for the prompt that an interaction answers: the id of its question, as text.
 * @param payload an SQL expression, made readable (`readableJson`)
 */
export function promptOf(payload: string): string {
  return `left(${payload} -> 'question' ->> 'id', ${maxPromptLength})`;
}

/** Activity of one attendee in a session or, if `sessionId` is null, in the whole pigeonhole. */
export interface Engagement {
  readonly attendeeId: number;
  readonly sessionId: number | null;
  readonly asked: number;
  /** Number of poll questions that were answered, whatever the number of options chosen. */
  readonly answered: number;
  readonly responded: number;
  readonly voted: number;
  readonly rated: number;
  readonly offered: number;
  /** The items that were counted, as `<list>:<key>`; at most `maxEvidence`. */
  readonly evidence: readonly string[];
}

/**
 * Converts activity to an item of the derived list. The item is always `named`, because only items with a visible
 * identity are counted.
 */
export function toEngagementItem(hash: KeyedHash, engagement: Engagement): SeenItem {
  const { attendeeId, sessionId } = engagement;
  return {
    key: hash.rowKey(canonicalJson([engagementList, attendeeId, sessionId])),
    sessionId,
    attendeeId,
    saysAnonymous: null,
    consent: null,
    visibility: 'named',
    fields: fieldsOf(engagement),
  };
}

function fieldsOf({ attendeeId, sessionId, offered, evidence, ...done }: Engagement): Fields {
  const { asked, answered, responded, voted, rated } = done;
  return {
    scope: sessionId === null ? 'pigeonhole' : 'session',
    attendeeId,
    ...(sessionId !== null && { sessionId }),
    interactions: asked + answered + responded + voted + rated,
    asked,
    answered,
    responded,
    voted,
    rated,
    offered,
    evidence,
    rule: engagementRule,
  };
}

/**
 * Counts the activity of these attendees by session and in the whole pigeonhole, in one statement. Counts only stored
 * items whose attendee may be shown. Omits attendees without activity.
 */
export async function countEngagement(
  tx: Queryable,
  pigeonholeNumber: number,
  attendeeIds: readonly number[],
): Promise<Engagement[]> {
  if (attendeeIds.length === 0) return [];
  return await tx.query<Engagement>(
    `with done as (
       select i.attendee_id, i.session_id, i.list, i.key, r.payload ->> 'createdAt' as at,
         case when i.list = any($4::text[]) then ${promptOf('r.payload')} end as prompt
       from unnest($2::int8[]) as n (attendee_id) cross join lateral (select * from items
         where pigeonhole_number = $1 and attendee_id = n.attendee_id and visibility = 'named' and payload is not null
           and list = any($3::text[]) offset 0) i
         cross join lateral (select ${readableJson('i.payload')} as payload) r),
     counted as (
       select attendee_id, session_id, grouping(session_id) = 1 as whole,
         (count(*) filter (where list in ${listSet(listsCountedAs('asked'))}))::int as asked,
         count(distinct prompt)::int as answered,
         (count(*) filter (where list in ${listSet(listsCountedAs('responded'))}))::int as responded,
         (count(*) filter (where list in ${listSet(listsCountedAs('voted'))}))::int as voted,
         (count(*) filter (where list in ${listSet(listsCountedAs('rated'))}))::int as rated,
         (array_agg(list || ':' || key order by at collate "C", list collate "C", key collate "C"))[1:${maxEvidence}]
           as evidence
       from done group by grouping sets ((attendee_id, session_id), (attendee_id)))
     select attendee_id as "attendeeId", session_id as "sessionId", asked, answered, responded, voted, rated, evidence,
       (select count(*)::int from engagement_prompts p
        where p.pigeonhole_number = $1 and (counted.whole or p.session_id = counted.session_id)) as offered
     from counted where whole or session_id is not null`,
    [pigeonholeNumber, attendeeIds, countedLists, promptLists],
  );
}
