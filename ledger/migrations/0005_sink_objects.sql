-- 0005: the records or messages that sinks created for items, so that a later change updates the same one.
-- Locks: none that anyone waits for; the table is new. Previous version: keeps running, and does not use the table.

create table sink_objects (
  sink_id    integer not null references sinks,
  ref        integer not null,
  list       text not null,
  key        text not null,
  object     json not null, -- remote ids and states; never personal data
  updated_at timestamptz not null default now(),
  primary key (sink_id, ref, list, key)
);
