-- 0014: the list of registrants, derived from imports and from attendees who signed in (decision 0028).
-- Locks: imports and deliveries; senders wait for one scan while the index is built. Previous version: keeps running,
-- and derives no such list.

create index imports_of_pigeonhole on imports (ref);

-- A registrant's item is a person's own record, so delivery looks up what the sink received before (0013).
drop index deliveries_told;
create index deliveries_told on deliveries (sink_id, ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null;

create table registrant_lists (
  ref      integer primary key references pigeonholes,
  position bigint not null default 0, -- changes of attendees up to this sequence are processed
  rules    text not null              -- the rules by which items are derived; if they change, all items are derived again
);

-- The position up to which the registrants of an import are processed.
create table registrant_passes (
  import    integer primary key,
  round     integer not null default 0,
  after_row integer not null default 0,
  stage     text not null default 'rows'
    check (stage in ('rows', 'late', 'done')) -- late: registrants of whom only the end of the import showed that they exist
);

-- Attendees whose record has an attendee code or the id of a registrant.
create table sign_ins (
  ref           integer not null references pigeonholes,
  attendee_id   bigint not null,
  code_hash     bytea,   -- HMAC of the attendee code
  registrant_id bigint,
  signed_in_at  text,    -- as the service reports it; null: not signed in yet
  subject       bytea not null, -- HMAC of the attendee, by which an erasure finds the row
  primary key (ref, attendee_id)
);
create index sign_ins_by_code on sign_ins (ref, code_hash) where code_hash is not null;
create index sign_ins_by_registrant on sign_ins (ref, registrant_id) where registrant_id is not null;
