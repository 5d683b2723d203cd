-- 0004: operations while running: replays, observation and its approval, what left the configuration, who paused what.
-- Locks: deliveries, while its primary key is built anew (a second for some 100,000 rows); the rest is brief.
-- Previous version: has to be stopped, since its statements tell deliveries apart by their sequence alone.

-- Stored items that a person had sent again.
create table replays (
  number       integer generated always as identity primary key,
  id           uuid not null unique, -- stands in the envelope of what it emits
  lists        text,        -- separated by spaces; null: all that the sink wants
  from_at      timestamptz, -- only what has changed since; null: everything
  requested_at timestamptz not null default now(),
  requested_by text,
  reason       text
);

-- How far a replay has come on a lane. It follows the watermark: what is in flight is never overtaken.
create table replay_lanes (
  replay   integer not null references replays,
  sink_id  integer not null references sinks,
  ref      integer not null references pigeonholes,
  until    bigint not null,           -- the newest sequence when it was asked for
  position bigint not null default 0, -- up to here every change has its row, or needs none
  emitted  integer not null default 0, -- rows made, those that were withheld among them
  done_at  timestamptz,               -- every row is made; deliveries say which are settled
  primary key (replay, sink_id, ref)
);
create index replay_lanes_open on replay_lanes (sink_id, ref) where done_at is null;

-- A change is delivered once by itself (replay 0), and once more by each replay.
alter table deliveries add column replay integer not null default 0;
alter table deliveries drop constraint deliveries_pkey;
alter table deliveries add primary key (sink_id, ref, sequence, replay);

alter table sinks add column history_ms bigint;           -- of what is there already; null: all, 0: nothing
alter table lanes add column history_since timestamptz;   -- of the history only what was found since; null: all
alter table lanes add column observed bigint;             -- position of `mode: observe`; null: not observing
alter table lanes add column observed_configuration integer; -- another configuration counts anew

-- What an observing sink would have done with the changes between its watermark and its position.
create table observations (
  sink_id integer not null,
  ref     integer not null,
  outcome text not null check (outcome in ('send', 'send-anonymous', 'withhold', 'supersede')),
  reason  text not null default '',
  changes bigint not null,
  primary key (sink_id, ref, outcome, reason)
);

-- A person has approved what an observing sink would do: it sends, as long as its destination is this one.
create table approvals (
  sink_id     integer primary key references sinks,
  destination text not null, -- keyed fingerprint
  approved_by text,
  reason      text,
  since       timestamptz not null default now()
);

-- Every sync that was ever configured, with the choice of pigeonholes that its selections stand for.
create table syncs (
  name        text primary key,
  workspace   text not null,
  choice      json not null,
  created_at  timestamptz not null default now(),
  archived_at timestamptz
);
alter table selections add column archived_at timestamptz; -- the configuration chooses it no more

alter table pauses add column actor text; -- who asked; null: not a person, or not said
alter table pigeonholes add column read_by_id_at timestamptz; -- when it was last asked for by its id
