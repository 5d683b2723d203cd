-- 0017: canaries, invented items that were sent to try a sink and have to be taken back (decision 0036).
-- Locks: none that is held. Previous version: keeps running, and takes none back.

-- Noted before anything is sent. A row goes when the next canary of its sink and pigeonhole begins.
create table canaries (
  number bigint generated always as identity primary key,
  mark bigint not null unique, -- stands in every id and text of the invented item
  workspace text not null,
  pigeonhole_id bigint not null,
  sink text not null,
  list text not null,
  -- sending: may or may not have arrived; standing: arrived, to be taken back; settled: nothing of it is to be taken
  -- back; left: a person has to remove it
  state text not null check (state in ('sending', 'standing', 'settled', 'left')),
  change_id uuid not null, -- the same at every attempt
  withdrawal_id uuid not null,
  begun_at timestamptz not null default date_trunc('milliseconds', now()),
  object json, -- what the sink has made of it, as in sink_objects
  memory json not null default '{}', -- what the sink remembers of it, as in lanes
  detail text, -- what was answered last: no personal data
  owner text not null,
  leased_until timestamptz not null -- the process that is at it ends before
);
create unique index canaries_open on canaries (workspace, pigeonhole_id, sink) where state in ('sending', 'standing');
