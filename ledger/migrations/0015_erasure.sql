-- 0015: forgotten people, and payloads with a retention period (decision 0029).
-- Locks: items, for a moment (a column with a constant default rewrites nothing). Previous version: keeps running, and
-- stores data of people again who were forgotten meanwhile. The erasure notices this at its end and clears the ledger again.
alter table items add column erased boolean not null default false; -- its person was forgotten; its data is never stored again
alter table items add column expired boolean not null default false; -- its retention has ended: the payload was removed, but the item still exists
create index items_erased on items (ref, list, key) where erased;

-- A request to forget a person.
create table erasures (
  number       integer generated always as identity primary key,
  id           uuid not null unique,
  asked_hash   bytea not null,    -- HMAC of the name in the request, to recognize a repeated request
  names        json,              -- ids, codes and names by which the person is found; null once the ledger is cleared
  requested_by text,
  reason       text,
  requested_at timestamptz not null default now(),
  cleared_at   timestamptz,       -- the ledger holds nothing of the person any more
  ended_at     timestamptz        -- every place has answered, or an operator has to act there
);
create index erasures_open on erasures (number) where ended_at is null;
create index erasures_asked on erasures (asked_hash);

-- The ledger stores nothing of these people.
create table forgotten (
  workspace text not null,
  subject   bytea not null,       -- HMAC of the attendee id; one row for named and one for anonymous items
  erasure   integer not null references erasures,
  primary key (workspace, subject)
);
-- No one is imported with these attendee codes.
create table forgotten_codes (
  ref       integer not null references pigeonholes,
  code_hash bytea not null,
  erasure   integer not null references erasures,
  primary key (ref, code_hash)
);

-- Erased items that a sink received. A row remains until the sink has answered the change that removes the item.
create table erasing (
  sink_id  integer not null,
  ref      integer not null,
  list     text not null,
  key      text not null,
  sequence bigint not null,       -- sequence of that change
  erasure  integer not null references erasures,
  primary key (sink_id, ref, list, key)
);

-- The outcome of an erasure at each place.
create table erasure_receipts (
  erasure integer not null references erasures,
  place   text not null,
  count   integer not null,
  outcome text not null check (outcome in ('erased', 'told', 'nothing', 'waiting', 'by-hand')),
  detail  text,
  todo    text,                   -- what the operator has to do
  at      timestamptz not null default clock_timestamp(),
  primary key (erasure, place)
);

-- The passes that remove payloads of a list after its retention; `changes`: earlier revisions of all lists.
create table retention_passes (
  ref       integer not null references pigeonholes,
  list      text not null,
  after_key text,                 -- position of the pass in progress; null: none
  passed_at timestamptz,          -- when the last pass finished
  primary key (ref, list)
);
