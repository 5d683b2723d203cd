-- 0011: saved mappings, and files found in drop folders.
-- Locks: none that anyone waits for. Previous version: keeps running, and reads no drop folder.

-- Mappings from the columns of a file to fields, saved under a name for later events.
create table import_mappings (
  name     text primary key,
  columns  json not null,       -- columns and their fields; null: the column is not sent
  saved_at timestamptz not null default now(),
  saved_by text
);

-- A file in a drop folder, identified by its content. It has one row and one import, even if several processes find it.
create table dropped_files (
  ref           integer not null references pigeonholes,
  content_hash  bytea not null, -- HMAC of the file's bytes
  terms_hash    bytea not null, -- HMAC of the settings for reading it; an unusable file is tried again when they change
  import        uuid not null,  -- id of its import, chosen before the import starts, so that a crash cannot cause a second import
  state         text not null check (state in ('claimed', 'importing', 'reported', 'unusable')),
  problem       text,           -- unusable: the reason, as a sentence for the operator
  owner         text not null,  -- the process that claimed it
  claimed_until timestamptz not null,
  primary key (ref, content_hash)
);
