-- 0007: engagement: the activity of attendees, counted from stored items (decision 0022).
-- Locks: items; writers wait for one scan while the index is built. Previous version: keeps running, and counts nothing.

-- Finds the items of an attendee whose identity is visible: to count them, and to send them again when consent changes.
create index items_of_attendee on items (ref, attendee_id) where visibility = 'named';

create table engagement_counts (
  ref            integer primary key references pigeonholes,
  position       bigint not null default 0, -- changes up to this sequence are counted
  rule           integer not null,          -- version of the counting rule at the last complete count
  pass_due_at    timestamptz,               -- when all attendees are counted again; null: not needed
  pass_began_at  timestamptz,
  after_attendee bigint                     -- position of the pass in progress; null: none
);

-- Poll questions that were ever answered. They still count as offered when an answer is withdrawn.
create table engagement_prompts (
  ref        integer not null references pigeonholes,
  session_id bigint not null,
  prompt     text not null,
  primary key (ref, session_id, prompt)
);
