-- 0013: an index of the changes of people's own records that a sink received, in the order of the changes.
-- Locks: deliveries; senders wait for one scan while the index is built. Previous version: keeps running.

-- For each change of such a record, delivery looks up what the sink received before. Without the index, it followed the
-- changes back one by one, which took 4 s per batch for a record with a thousand changes. The index contains neither other
-- lists nor withheld changes.
create index deliveries_told on deliveries (sink_id, ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement') and identity is not null;
