-- What is due comes in the order of its changes. A delivery that goes out at once is never in this index; a backlog of
-- hundreds of thousands (a list that is new to a sink, dead letters tried again) would be sorted for every batch.
create index deliveries_due on deliveries (sink_id, ref, sequence, replay) where state in ('waiting', 'retry');
