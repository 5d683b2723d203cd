-- 0018: indexes of what people did, without the people themselves.
-- Locks: items against writing, a second for each 300,000. Previous version: keeps running, one of its passes slower.

-- Who attends belongs to no session and to nobody but itself: two of three entries that a new attendee made in an index
-- served no query. What is asked by session or by attendee is what somebody did.
drop index items_by_session;
create index items_by_session on items (ref, session_id, list, key)
  where visibility is not null and session_id is not null;

drop index items_of_attendee;
create index items_of_attendee on items (ref, attendee_id) where visibility = 'named' and list <> 'attendees';
