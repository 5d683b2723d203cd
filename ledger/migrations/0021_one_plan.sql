-- 0021: indexes of deliveries that only one form of a condition can use (decision 0038).
-- Outside a transaction: deliveries grow with use, and nobody should wait for a scan of them.
-- Locks: none that keep readers or writers out. Previous version: keeps running, its batches slower until it is replaced.

-- Without statistics, or with those of other pigeonholes, the primary key looked as good as an index of what is open, and
-- every look-up read all that was ever delivered. These begin with an expression: a condition that says it can use this
-- index and no other.
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
