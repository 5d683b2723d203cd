-- 0018: indexes of interactions, without the attendees themselves.
-- Locks: items against writing, a second for each 300,000. Previous version: keeps running, one of its passes slower.

-- An attendee's record belongs to no session, and no query looks it up by attendee. Two of the three index entries of a new
-- attendee were therefore useless. Queries by session or by attendee look for interactions.
drop index items_by_session;
create index items_by_session on items (ref, session_id, list, key)
  where visibility is not null and session_id is not null;

drop index items_of_attendee;
create index items_of_attendee on items (ref, attendee_id) where visibility = 'named' and list <> 'attendees';
