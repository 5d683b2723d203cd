-- 0027: what was told of people is indexed once it was sent, and not while it is being sent.
-- Outside a transaction: deliveries grow with use, and nobody should wait for a scan of them.
-- Locks: none that keep readers or writers out. Previous version: keeps running, the batches of what has changed slower until
-- it is replaced.

-- Each delivery of a record made two entries, of which the first was dead a moment later. What is being sent holds the item's
-- later changes, so nobody asks about it.
create index concurrently if not exists deliveries_told_settled
  on deliveries ((sink_id + 0), ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null and state <> 'sending';

drop index concurrently if exists deliveries_told_of_item;
