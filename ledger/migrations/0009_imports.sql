-- 0009: imports of registrants (decision 0025).
-- Locks: pauses and workspaces, for a moment. Previous version: keeps running, and imports nothing.

alter table pauses drop constraint pauses_scope_check;
alter table pauses add constraint pauses_scope_check check (scope in ('workspace', 'pigeonhole', 'sink', 'import'));

-- What refusals have taught of the service behind a workspace.
alter table workspaces
  add column registrants_at_once   integer,  -- more in one request were refused; null: never
  add column registrant_index_base smallint, -- whether its complaints count rows from 0 or from 1; null: not known
  add column refuses_whole         boolean not null default false; -- it creates nothing of a bulk request that it refuses

-- A run over a file.
create table imports (
  number           integer generated always as identity primary key,
  id               uuid not null unique,
  ref              integer not null references pigeonholes,
  file             text not null,
  mapping          json not null,
  requested_by     text,
  canary           integer,          -- only so many rows are sent; null: all
  state            text not null default 'staging' check (state in ('staging', 'running', 'done', 'cancelled')),
  created_at       timestamptz not null default now(),
  touched_at       timestamptz not null default now(), -- last batch staged: one that nobody goes on staging is given up
  started_at       timestamptz,
  ended_at         timestamptz,
  cancel_asked_at  timestamptz,      -- a person wants its end; what is under way is settled first
  cancel_asked_by  text,
  rows_claimed     integer not null default 0, -- when it started: rows that are this import's to send
  last_row         integer not null default 0, -- highest number of a row that is staged
  rows_other       integer not null default 0, -- when it started: all others, of which import_rows tells
  -- sending
  owner            text,
  epoch            bigint not null default 0, -- an attempt takes the next one; a commit under an older one is refused
  round            integer not null default 0, -- 0: rows claimed while staging; then those that others gave up
  position         integer not null default 0, -- up to this row of the round everything stands in a chunk
  begun            integer not null default 0, -- rows that stand in chunks
  request_number   integer not null default 0, -- of the latest request; each has its own
  requests         integer not null default 0, -- that the service has heard, or may have
  chunk_size       integer not null,
  passed           integer not null default 0, -- requests in a row that the service answered with a success
  failures         integer not null default 0, -- in a row, without any answer that says something
  failure          text,
  retry_at         timestamptz
);
create index imports_open on imports (number) where state in ('staging', 'running');

-- Who a person with this code is in a pigeonhole: one row a code, claimed by one import, which alone may send it.
create table registrants (
  ref        integer not null,
  code_hash  bytea not null,          -- HMAC of the attendee code
  import     integer not null,
  round      integer not null default 0,
  row_number integer not null,        -- of the file, 1 being its header
  data_hash  bytea not null,          -- HMAC of the profile
  profile    json not null,           -- canonical, as it is sent
  outcome    text check (outcome in ('created', 'confirmed', 'existing', 'conflict', 'rejected', 'unknown')), -- null: as its chunk says
  field      text,                    -- refused: what the service says of it. Never in a log: it may quote values
  message    text,
  request_id text,
  origin     integer,                 -- the request of this import that may have created it before it was refused
  sent       text check (sent in ('refused', 'unknown')), -- how that request ended
  primary key (ref, code_hash)
);
create index registrants_by_import on registrants (import, row_number);
create index registrants_in_doubt on registrants (import, origin) where origin is not null;
create index registrants_settled on registrants (import, outcome) where outcome is not null;

-- A range of an import's rows, of those that have no outcome of their own. Ranges of a round do not overlap.
create table import_chunks (
  import     integer not null,
  round      integer not null,
  first_row  integer not null,
  last_row   integer not null,
  state      text not null check (state in ('open', 'sending', 'created')),
  row_count  integer not null,
  sent       text not null default 'never' check (sent in ('never', 'refused', 'unknown')), -- before; may it be there?
  origin     integer,                  -- the request by which its rows may be there
  suspects   integer,                  -- one of its first so many rows is refused; null: nothing speaks against any
  next_count integer,                  -- so many of its first rows go next; null: all
  fruitful   boolean not null default false, -- since a row was last refused some were created
  unknowns   integer not null default 0, -- requests in a row whose outcome is not known
  sent_count integer,                  -- sending: so many of its first rows are on their way
  request    integer,                  -- sending: the number of that request
  request_id text,
  due_at     timestamptz not null default now(),
  primary key (import, round, first_row)
);
create index import_chunks_unsettled on import_chunks (import, state, due_at) where state <> 'created';

-- Rows of a file that are not this import's to send: another one holds the code, or something is wrong with them.
create table import_rows (
  import     integer not null,
  row_number integer not null,
  code_hash  bytea,
  data_hash  bytea,
  profile    json not null,
  outcome    text not null check (outcome in
    ('waiting', 'created', 'confirmed', 'existing', 'conflict', 'rejected', 'unknown', 'cancelled', 'invalid')),
  field      text,
  message    text,
  request_id text,
  problems   json, -- invalid: what is wrong, by column
  primary key (import, row_number)
);
create index import_rows_waiting on import_rows (import, row_number) where outcome = 'waiting';
