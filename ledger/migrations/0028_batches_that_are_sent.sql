-- 0028: for sinks that receive every revision, the batch that is being sent is one row per lane (decision 0053).
-- Before, each delivery was inserted as `sending` and then updated: two versions of its row, and eight index entries.
-- Locks: none on tables in use.
-- Previous version: keeps running. If it takes over a lane in the middle of a batch, it sends the batch again: a file is
-- cut to its committed length first, and a webhook's receiver recognises the ids.
create table begun_batches (
  sink_id int4 not null,
  ref int4 not null,
  reached int8 not null,
  configuration int4 not null,
  begun_at timestamptz not null default now(),
  sequences int8[] not null,
  identities boolean[] not null,
  others json not null,
  primary key (sink_id, ref),
  foreign key (sink_id, ref) references lanes (sink_id, ref)
);
