-- 0010: objects of an event file that "pigeonpost apply" creates in the service. A row is written before its request.
-- Locks: none that anyone waits for; the table is new. Previous version: keeps running, and does not use the table.

create table provisioned (
  workspace    text not null,
  event        text not null,     -- the name of the event in the file
  object       text not null,     -- `pigeonhole`, or the name of a session in the file
  parent_id    bigint not null,   -- the pigeonhole of a session; 0: the object is a pigeonhole
  state        text not null check (state in ('none', 'sending', 'made')), -- sending: the outcome of the request is not known
  remote_id    bigint check ((state = 'made') = (remote_id is not null)),
  attempt      integer not null,  -- only the attempt with this number may send
  sent         json not null,     -- the sent fields by which the object is looked up if the answer was lost
  known_before text not null,     -- ids of objects with its name that existed before, separated by spaces
  sent_at      timestamptz not null,
  settled_at   timestamptz,
  requested_by text,
  primary key (workspace, event, object)
);
-- An object in the service belongs to one row only.
create unique index provisioned_remote on provisioned (workspace, (parent_id = 0), remote_id) where remote_id is not null;
