-- 0021: indexes of deliveries that only one form of a condition can use (decision 0038).
-- Outside a transaction: deliveries grow with use, and no process should wait for a scan of them.
-- Locks: none that block readers or writers. Previous version: keeps running, with slower batches until it is replaced.

-- Without statistics, or with statistics that did not cover the pigeonhole, the planner considered the primary key as good
-- as an index of open deliveries, and every look-up read everything ever delivered. These indexes start with an expression.
-- A condition with the same expression can use only that index.
create index concurrently if not exists deliveries_of_item on deliveries ((sink_id + 0), ref, list, key, sequence, replay)
  where state in ('waiting', 'sending', 'retry', 'dead');
create index concurrently if not exists deliveries_in_order on deliveries ((sink_id::int8 << 32 | ref), sequence, replay)
  where state in ('waiting', 'retry');
create index concurrently if not exists deliveries_sending on deliveries ((sink_id::int8 << 32 | ref), sequence, replay)
  where state = 'sending';
create index concurrently if not exists deliveries_told_of_item
  on deliveries ((sink_id + 0), ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null;

drop index concurrently if exists deliveries_open;
drop index concurrently if exists deliveries_due;
drop index concurrently if exists deliveries_told;
