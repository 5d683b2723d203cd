-- 0010: what "pigeonpost apply" creates at the service: a row per object of an event file, written before its request.
-- Locks: none that anyone waits for; the table is new. Previous version: does not know it, and runs beside it.

create table provisioned (
  workspace    text not null,
  event        text not null,     -- the file's own name of the event
  object       text not null,     -- `pigeonhole`, or the file's own name of a session
  parent_id    bigint not null,   -- the pigeonhole that a session is in; 0: the object is a pigeonhole
  state        text not null check (state in ('none', 'sending', 'made')), -- sending: how its request ended is not known
  remote_id    bigint check ((state = 'made') = (remote_id is not null)),
  attempt      integer not null,  -- of several that want to send, the one whose number this is may
  sent         json not null,     -- of what was sent, the fields by which a lost answer is looked up
  known_before text not null,     -- ids of those of its name that were there before, separated by spaces
  sent_at      timestamptz not null,
  settled_at   timestamptz,
  requested_by text,
  primary key (workspace, event, object)
);
-- What exists at the service is one object's alone.
create unique index provisioned_remote on provisioned (workspace, (parent_id = 0), remote_id) where remote_id is not null;
