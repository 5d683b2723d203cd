-- 0013: what a sink was told of a person's own record, in the order of its changes.
-- Locks: deliveries; senders wait for one scan while the index is built. Previous version: keeps running.

-- Every change of such a record asks what was told before it. Walking back from change to change took 4 s a batch where a
-- record had a thousand of them. Of other lists, and of what was withheld, nothing is in it.
create index deliveries_told on deliveries (sink_id, ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement') and identity is not null;
