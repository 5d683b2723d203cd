-- 0008: an index of the deliveries that wait for a sink, in the order of their changes.
-- Locks: deliveries; senders wait for one scan while the index is built. Previous version: keeps running.

-- A delivery that is sent immediately is never in this index. Without it, a backlog of hundreds of thousands (a list that is
-- new for a sink, redriven dead letters) would be sorted for every batch.
create index deliveries_due on deliveries (sink_id, ref, sequence, replay) where state in ('waiting', 'retry');
