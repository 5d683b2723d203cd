import type { Queryable } from './drivers/database.js';
import { countedLists, type Engagement, mostEvidence, promptLists, promptOf } from './engagement.js';
import { readableJson } from './readable-json.js';

interface CountedRow {
  attendee_id: number;
  session_id: number | null;
  asked: number;
  answered: number;
  responded: number;
  voted: number;
  rated: number;
  offered: number;
  evidence: string[];
}

/**
 * What these attendees did, from the items that are stored now and show who did it: by session, and in the whole
 * pigeonhole. One statement for all of them; nobody who did nothing.
 */
export async function countEngagement(
  tx: Queryable,
  ref: number,
  attendeeIds: readonly number[],
): Promise<Engagement[]> {
  if (attendeeIds.length === 0) return [];
  const rows = await tx.query<CountedRow>(
    `with done as (
       select i.attendee_id, i.session_id, i.list, i.key, r.payload ->> 'createdAt' as at,
         case when i.list = any($4::text[]) then ${promptOf('r.payload')} end as prompt
       from unnest($2::int8[]) as n (attendee_id) cross join lateral (select * from items
         where ref = $1 and attendee_id = n.attendee_id and visibility = 'named' and payload is not null
           and list = any($3::text[]) offset 0) i
         cross join lateral (select ${readableJson('i.payload')} as payload) r),
     counted as (
       select attendee_id, session_id, grouping(session_id) = 1 as whole,
         (count(*) filter (where list = 'qna-questions'))::int as asked,
         count(distinct prompt)::int as answered,
         (count(*) filter (where list = 'answers'))::int as responded,
         (count(*) filter (where list = 'votes'))::int as voted,
         (count(*) filter (where list = 'answer_ratings'))::int as rated,
         (array_agg(list || ':' || key order by at collate "C", list collate "C", key collate "C"))[1:${mostEvidence}]
           as evidence
       from done group by grouping sets ((attendee_id, session_id), (attendee_id)))
     select attendee_id, session_id, asked, answered, responded, voted, rated, evidence,
       (select count(*)::int from engagement_prompts p
        where p.ref = $1 and (counted.whole or p.session_id = counted.session_id)) as offered
     from counted where whole or session_id is not null`,
    [ref, attendeeIds, countedLists, promptLists],
  );
  return rows.map(({ attendee_id: attendeeId, session_id: sessionId, ...counts }) => ({
    attendeeId,
    sessionId,
    ...counts,
  }));
}
