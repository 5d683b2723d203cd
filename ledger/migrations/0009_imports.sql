-- 0009: imports of registrants (decision 0025).
-- Locks: pauses and workspaces, for a moment. Previous version: keeps running, and imports nothing.

alter table pauses drop constraint pauses_scope_check;
alter table pauses add constraint pauses_scope_check check (scope in ('workspace', 'pigeonhole', 'sink', 'import'));

-- What pigeonpost learned about the service of a workspace from refused requests.
alter table workspaces
  add column registrants_at_once   integer,  -- the service refused more registrants than this in one request; null: it never did
  add column registrant_index_base smallint, -- 0 or 1: the number of the first row in its error messages; null: not known
  add column refuses_whole         boolean not null default false; -- true if it creates none of the rows of a refused bulk request

-- An import of one file.
create table imports (
  number           integer generated always as identity primary key,
  id               uuid not null unique,
  ref              integer not null references pigeonholes,
  file             text not null,
  mapping          json not null,
  requested_by     text,
  canary           integer,          -- number of rows to send; null: all
  state            text not null default 'staging' check (state in ('staging', 'running', 'done', 'cancelled')),
  created_at       timestamptz not null default now(),
  touched_at       timestamptz not null default now(), -- when the last batch was staged; without another batch for some time, the import counts as abandoned
  started_at       timestamptz,
  ended_at         timestamptz,
  cancel_asked_at  timestamptz,      -- when an operator cancelled it; requests in progress are settled first
  cancel_asked_by  text,
  rows_claimed     integer not null default 0, -- at its start: number of rows that this import has to send
  last_row         integer not null default 0, -- highest number of a staged row
  rows_other       integer not null default 0, -- at its start: number of all other rows, which are in import_rows
  -- sending
  owner            text,
  epoch            bigint not null default 0, -- each attempt increases it; a commit under an older epoch is refused
  round            integer not null default 0, -- 0: rows claimed while staging; later rounds: rows that other imports gave up
  position         integer not null default 0, -- all rows of the round up to this one are in chunks
  begun            integer not null default 0, -- number of rows in chunks
  request_number   integer not null default 0, -- number of the latest request; each request has its own
  requests         integer not null default 0, -- number of requests that the service received or may have received
  chunk_size       integer not null,
  passed           integer not null default 0, -- number of consecutive successful requests
  failures         integer not null default 0, -- number of consecutive requests without a conclusive answer
  failure          text,
  retry_at         timestamptz
);
create index imports_open on imports (number) where state in ('staging', 'running');

-- The registrants of a pigeonhole: one row per code. One import claims the row, and only that import may send it.
create table registrants (
  ref        integer not null,
  code_hash  bytea not null,          -- HMAC of the attendee code
  import     integer not null,
  round      integer not null default 0,
  row_number integer not null,        -- row of the file; row 1 is its header
  data_hash  bytea not null,          -- HMAC of the profile
  profile    json not null,           -- canonical JSON, as it is sent
  outcome    text check (outcome in ('created', 'confirmed', 'existing', 'conflict', 'rejected', 'unknown')), -- null: the outcome of its chunk
  field      text,                    -- refused: field and message of the answer. Must not be logged: they may quote values
  message    text,
  request_id text,
  origin     integer,                 -- the request of this import that may have created the registrant before a later one refused it
  sent       text check (sent in ('refused', 'unknown')), -- the outcome of that request
  primary key (ref, code_hash)
);
create index registrants_by_import on registrants (import, row_number);
create index registrants_in_doubt on registrants (import, origin) where origin is not null;
create index registrants_settled on registrants (import, outcome) where outcome is not null;

-- A range of an import's rows. It applies to those rows that have no outcome of their own. Ranges of a round do not overlap.
create table import_chunks (
  import     integer not null,
  round      integer not null,
  first_row  integer not null,
  last_row   integer not null,
  state      text not null check (state in ('open', 'sending', 'created')),
  row_count  integer not null,
  sent       text not null default 'never' check (sent in ('never', 'refused', 'unknown')), -- the outcome of earlier requests with its rows; unknown: the service may have them
  origin     integer,                  -- the request that may have created its rows
  suspects   integer,                  -- one of its first N rows is the refused one; null: no row is suspected
  next_count integer,                  -- number of its first rows to send next; null: all
  fruitful   boolean not null default false, -- true if rows were created since the last refusal of a row
  unknowns   integer not null default 0, -- number of consecutive requests with an unknown outcome
  sent_count integer,                  -- sending: number of its first rows in the request in progress
  request    integer,                  -- sending: the number of the request in progress
  request_id text,
  due_at     timestamptz not null default now(),
  primary key (import, round, first_row)
);
create index import_chunks_unsettled on import_chunks (import, state, due_at) where state <> 'created';

-- Rows of a file that this import does not send, because another import holds the code or the row is invalid.
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
  problems   json, -- invalid: the problems, by column
  primary key (import, row_number)
);
create index import_rows_waiting on import_rows (import, row_number) where outcome = 'waiting';
