-- 0027: deliveries of people's own records enter the index when they are settled, and not while they are being sent.
-- Outside a transaction: deliveries grow with use, and no process should wait for a scan of them.
-- Locks: none that block readers or writers. Previous version: keeps running, with slower batches of changed records until it
-- is replaced.

-- Each delivery of a record made two index entries, of which the first became useless a moment later. No query needs it,
-- because later changes of the item wait while a delivery is being sent.
create index concurrently if not exists deliveries_told_settled
  on deliveries ((sink_id + 0), ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null and state <> 'sending';

drop index concurrently if exists deliveries_told_of_item;
