-- 0008: what is due at a sink, in the order of its changes.
-- Locks: deliveries; senders wait for one scan while the index is built. Previous version: keeps running.

-- A delivery that goes out at once is never in it. A backlog of hundreds of thousands (a list that is new to a sink, dead
-- letters tried again) would be sorted for every batch.
create index deliveries_due on deliveries (sink_id, ref, sequence, replay) where state in ('waiting', 'retry');
