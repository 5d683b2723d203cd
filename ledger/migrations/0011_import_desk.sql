-- 0011: mappings that are kept under a name, and files found in drop folders.
-- Locks: none that anyone waits for. Previous version: keeps running, and looks into no folder.

-- Which column of a file goes where, for the next event.
create table import_mappings (
  name     text primary key,
  columns  json not null,       -- columns and their fields; null: the column is not sent
  saved_at timestamptz not null default now(),
  saved_by text
);

-- A file in a drop folder, known by its content: one row, and one import, however many processes see it.
create table dropped_files (
  ref           integer not null references pigeonholes,
  content_hash  bytea not null, -- HMAC of the file's bytes
  terms_hash    bytea not null, -- HMAC of how it was to be read: a file that could not be used is looked at again under others
  import        uuid not null,  -- chosen before the import begins, so that a process that dies leaves no second one behind
  state         text not null check (state in ('claimed', 'importing', 'reported', 'unusable')),
  problem       text,           -- unusable: why, as a sentence for a person
  owner         text not null,  -- claimed: by this process
  claimed_until timestamptz not null,
  primary key (ref, content_hash)
);
