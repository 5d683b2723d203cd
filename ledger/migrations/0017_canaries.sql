-- 0017: canaries: invented items that are sent to test a sink and have to be removed again (decision 0036).
-- Locks: none that is held. Previous version: keeps running, and removes no canaries.

-- A row is written before anything is sent, and deleted when the next canary of its sink and pigeonhole starts.
create table canaries (
  number bigint generated always as identity primary key,
  mark bigint not null unique, -- part of every id and text of the invented item
  workspace text not null,
  pigeonhole_id bigint not null,
  sink text not null,
  list text not null,
  -- sending: may have arrived; standing: has arrived and has to be removed; settled: nothing has to be removed; left: an
  -- operator has to remove it
  state text not null check (state in ('sending', 'standing', 'settled', 'left')),
  change_id uuid not null, -- the same at every attempt
  withdrawal_id uuid not null,
  begun_at timestamptz not null default date_trunc('milliseconds', now()),
  object json, -- the sink's object for it, as in sink_objects
  memory json not null default '{}', -- the sink's memory, as in lanes
  detail text, -- the last answer, without personal data
  owner text not null,
  leased_until timestamptz not null -- when the lease of the process that works on it ends
);
create unique index canaries_open on canaries (workspace, pigeonhole_id, sink) where state in ('sending', 'standing');
