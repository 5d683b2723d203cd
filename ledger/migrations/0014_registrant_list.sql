-- 0014: the list of registrants, made from imports and from who signed in (decision 0028).
-- Locks: imports and deliveries; senders wait for one scan while the index is built. Previous version: keeps running,
-- and makes no such list.

create index imports_of_pigeonhole on imports (ref);

-- A registrant's item is a person's own record: what was told of it is looked up as of the others.
drop index deliveries_told;
create index deliveries_told on deliveries (sink_id, ref, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null;

create table registrant_lists (
  ref      integer primary key references pigeonholes,
  position bigint not null default 0, -- changes of attendees up to here are taken in
  rules    text not null              -- what an item is made of: under others, all are made anew
);

-- How far an import's registrants are taken in.
create table registrant_passes (
  import    integer primary key,
  round     integer not null default 0,
  after_row integer not null default 0,
  stage     text not null default 'rows'
    check (stage in ('rows', 'late', 'done')) -- late: those that only its end has shown to be there
);

-- Who says to be a registrant: attendees whose record has a code, or a registrant's id.
create table sign_ins (
  ref           integer not null references pigeonholes,
  attendee_id   bigint not null,
  code_hash     bytea,   -- HMAC of the attendee code
  registrant_id bigint,
  signed_in_at  text,    -- as the service says it; null: not yet
  subject       bytea not null, -- whom the row is about, for erasure
  primary key (ref, attendee_id)
);
create index sign_ins_by_code on sign_ins (ref, code_hash) where code_hash is not null;
create index sign_ins_by_registrant on sign_ins (ref, registrant_id) where registrant_id is not null;
