-- 0004: operations while running: replays, observing sinks and their approval, archived syncs and selections, the operator
-- who paused something.
-- Locks: deliveries, while its primary key is built again (a second for some 100,000 rows); all others for a moment.
-- Previous version: has to be stopped, because its statements identify deliveries only by their sequence.

-- Requests of operators to send stored items again.
create table replays (
  number       integer generated always as identity primary key,
  id           uuid not null unique, -- part of the envelope of every change that the replay emits
  lists        text,        -- separated by spaces; null: all lists that the sink receives
  from_at      timestamptz, -- only items that changed since then; null: all items
  requested_at timestamptz not null default now(),
  requested_by text,
  reason       text
);

-- The position of a replay on a lane. It never passes the watermark, so a replay never overtakes a change in flight.
create table replay_lanes (
  replay   integer not null references replays,
  sink_id  integer not null references sinks,
  ref      integer not null references pigeonholes,
  until    bigint not null,           -- the newest sequence at the time of the request
  position bigint not null default 0, -- every change up to this sequence has its delivery or needs none
  emitted  integer not null default 0, -- number of deliveries created, including withheld ones
  done_at  timestamptz,               -- when every delivery was created; the deliveries themselves may not be settled yet
  primary key (replay, sink_id, ref)
);
create index replay_lanes_open on replay_lanes (sink_id, ref) where done_at is null;

-- A change has one delivery of its own (replay 0), and one more for each replay.
alter table deliveries add column replay integer not null default 0;
alter table deliveries drop constraint deliveries_pkey;
alter table deliveries add primary key (sink_id, ref, sequence, replay);

alter table sinks add column history_ms bigint;           -- age limit of existing changes that a new lane delivers; null: all, 0: none
alter table lanes add column history_since timestamptz;   -- of the existing changes, only those found since then; null: all
alter table lanes add column observed bigint;             -- position of `mode: observe`; null: not observing
alter table lanes add column observed_configuration integer; -- under another configuration, counting starts again

-- The number of changes between the watermark and the position of an observing sink, by what the sink would do with them.
create table observations (
  sink_id integer not null,
  ref     integer not null,
  outcome text not null check (outcome in ('send', 'send-anonymous', 'withhold', 'supersede')),
  reason  text not null default '',
  changes bigint not null,
  primary key (sink_id, ref, outcome, reason)
);

-- An operator's approval of an observing sink. The sink sends as long as it has this destination.
create table approvals (
  sink_id     integer primary key references sinks,
  destination text not null, -- keyed fingerprint
  approved_by text,
  reason      text,
  since       timestamptz not null default now()
);

-- Every sync that was ever configured, with the rule by which it selects pigeonholes.
create table syncs (
  name        text primary key,
  workspace   text not null,
  choice      json not null,
  created_at  timestamptz not null default now(),
  archived_at timestamptz
);
alter table selections add column archived_at timestamptz; -- when the configuration no longer selected it

alter table pauses add column actor text; -- the operator who paused it; null: pigeonpost paused it, or the operator is not known
alter table pigeonholes add column read_by_id_at timestamptz; -- when it was last requested by its id
