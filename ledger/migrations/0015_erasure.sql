-- 0015: people who are forgotten, and payloads that are kept for a time (decision 0029).
-- Locks: items, for a moment (a column with a constant default rewrites nothing). Previous version: keeps running, and
-- takes in again whoever is forgotten while it does; the erasure finds that at its end, and goes through the ledger again.
alter table items add column erased boolean not null default false; -- whose it was is forgotten: it never comes back
alter table items add column expired boolean not null default false; -- kept long enough: its payload was dropped, and it is there
create index items_erased on items (ref, list, key) where erased;

-- A request to forget a person.
create table erasures (
  number       integer generated always as identity primary key,
  id           uuid not null unique,
  asked_hash   bytea not null,    -- HMAC of what was asked for: whether it was asked before
  names        json,              -- what names the person, as long as the ledger is gone through; null afterwards
  requested_by text,
  reason       text,
  requested_at timestamptz not null default now(),
  cleared_at   timestamptz,       -- the ledger holds nothing of the person any more
  ended_at     timestamptz        -- every place has been told, or a person has to see to it
);
create index erasures_open on erasures (number) where ended_at is null;
create index erasures_asked on erasures (asked_hash);

-- Of these people nothing is taken in any more.
create table forgotten (
  workspace text not null,
  subject   bytea not null,       -- HMAC of the attendee id, a row for each purpose
  erasure   integer not null references erasures,
  primary key (workspace, subject)
);
-- And under these attendee codes nobody is imported any more.
create table forgotten_codes (
  ref       integer not null references pigeonholes,
  code_hash bytea not null,
  erasure   integer not null references erasures,
  primary key (ref, code_hash)
);

-- What sinks were told of items that are erased, until each has answered the change that takes it back.
create table erasing (
  sink_id  integer not null,
  ref      integer not null,
  list     text not null,
  key      text not null,
  sequence bigint not null,       -- of that change
  erasure  integer not null references erasures,
  primary key (sink_id, ref, list, key)
);

-- What became of a person at each place.
create table erasure_receipts (
  erasure integer not null references erasures,
  place   text not null,
  count   integer not null,
  outcome text not null check (outcome in ('erased', 'told', 'nothing', 'waiting', 'by-hand')),
  detail  text,
  todo    text,                   -- what a person has to do
  at      timestamptz not null default clock_timestamp(),
  primary key (erasure, place)
);

-- How far the payloads of a list were dropped whose time is over; `changes`: earlier revisions.
create table retention_passes (
  ref       integer not null references pigeonholes,
  list      text not null,
  after_key text,                 -- the pass under way has come to here; null: none is
  passed_at timestamptz,          -- the last whole one
  primary key (ref, list)
);
