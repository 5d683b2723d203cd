-- 0028: what a sink of every revision is being sent is one row for each lane (decision 0053).
-- A delivery was inserted as being sent and updated as delivered: two versions of a row, and eight entries in indexes.
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
