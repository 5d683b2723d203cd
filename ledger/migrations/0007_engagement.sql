-- 0007: who took part how much, counted from what is stored (decision 0022).
-- Locks: items; writers wait for one scan while the index is built. Previous version: keeps running, and counts nothing.

-- What a person who may be shown has done: also to send it again when they may be shown, or no more.
create index items_of_attendee on items (ref, attendee_id) where visibility = 'named';

create table engagement_counts (
  ref            integer primary key references pigeonholes,
  position       bigint not null default 0, -- changes up to here are counted
  rule           integer not null,          -- by which all of it was counted last
  pass_due_at    timestamptz,               -- everyone is counted anew then; null: nobody needs to be
  pass_began_at  timestamptz,
  after_attendee bigint                     -- how far the pass under way has come; null: none is
);

-- Questions of polls that somebody has answered: what was offered stays offered, whoever takes an answer back.
create table engagement_prompts (
  ref        integer not null references pigeonholes,
  session_id bigint not null,
  prompt     text not null,
  primary key (ref, session_id, prompt)
);
