-- 0005: what sinks have made of items, so that a later change meets the same record or message.
-- Locks: none that anyone waits for; the table is new. Previous version: does not know it, and runs beside it.

create table sink_objects (
  sink_id    integer not null references sinks,
  ref        integer not null,
  list       text not null,
  key        text not null,
  object     json not null, -- remote ids and states; never personal data
  updated_at timestamptz not null default now(),
  primary key (sink_id, ref, list, key)
);
