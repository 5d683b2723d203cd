-- 0001: the ledger: what was read, its changes, what was delivered to each sink, imports, and what operators did.
-- Locks: none that anyone waits for; all tables are new. Previous version: none.
--
-- Until version 0.1.0 is released, a change of the schema is an edit of this file. From then on, this file stays as it is,
-- and each change is a migration with the next number (decision 0051).
--
-- Payloads are `json` and not `jsonb`: the text is stored as it was received (including an escaped NUL, which jsonb
-- refuses), and writing it is cheaper. No statement reads members of a payload; values that queries need have columns.
-- Ids that grow with use are bigint.

-- ---- the ledger, its configurations, and its workspaces

-- One row: the id of this ledger, and the Temporal cluster that may drive it. The key of its hashes is outside the database
-- (decision 0048).
create table ledger (
  singleton  boolean primary key default true check (singleton),
  id         uuid not null,
  key_check  bytea not null, -- identifies the key outside
  cluster_id text,           -- null until a Temporal cluster has driven this ledger
  namespace  text,
  created_at timestamptz not null default now()
);

-- Every configuration that was ever current, with keyed fingerprints in place of secrets. The highest number is the current
-- one.
create table configurations (
  number     integer primary key,
  document   json not null,
  digest     text not null,
  applied_at timestamptz not null default now(),
  applied_by text, -- name of the caller; null: the start of a process
  text       text  -- the file, with secrets that are written in it replaced; null: not kept
);

-- Changes of the configuration file that were prepared on the page (decision 0117). They name secrets, and contain none.
create table configuration_drafts (
  sink     text primary key,
  kind     text not null check (kind in ('mapping', 'sink')), -- mapping: another mapping of the sink; sink: a new sink
  body     text not null,    -- YAML, without the indentation of the file
  base     text,             -- mapping: the mapping in the file for which the draft was made
  sync     text,             -- sink: the sync that delivers to it
  version  integer not null default 1,
  saved_by text not null,
  saved_at timestamptz not null default clock_timestamp(),
  check ((kind = 'mapping') = (base is not null)),
  check ((kind = 'sink') = (sync is not null))
);

-- One row per workspace. All requests of a workspace wait together: for its quota, after throttling, or for another API key.
create table workspaces (
  name                  text primary key,
  wait_until            timestamptz,
  wait_reason           text check (wait_reason in ('quota', 'throttled', 'credential')),
  wait_count            integer not null default 0, -- number of waits in a row; a successful request sets it to 0
  discovered_at         timestamptz, -- when syncs selected from its pigeonholes for the first time
  -- what pigeonpost learned about the service from refused requests of imports
  registrants_at_once   integer,  -- the service refused more registrants than this in one request; null: it never did
  registrant_index_base smallint, -- 0 or 1: the number of the first row in its error messages; null: not known
  refuses_whole         boolean not null default false, -- true if it creates none of the rows of a refused bulk request
  -- since when the service has not answered, so that all processes report one incident with one start
  unanswered_since      timestamptz,
  unanswered_reason     text
);

-- The request quota of each API key, which all workspaces and processes with that key share. A row is rewritten at every
-- poll. The fill factor leaves room on its page for the new version of the row.
create table quotas (
  fingerprint   text primary key,  -- of the API key
  request_limit integer,           -- number of requests per window, as last reported; null: the service never reported it
  remaining     integer,           -- maximum number of requests that are left; null: not reported in this window
  reset_at      timestamptz,       -- reported end of the window; null: not reported
  window_number integer not null default 1, -- rises with each window and with each refusal
  window_ms     bigint,            -- longest reported time until a reset; null: none was reported
  used          integer not null default 0, -- number of requests in this window
  used_imports  integer not null default 0,
  used_idle     integer not null default 0,
  used_sweeps   integer not null default 0,
  ask_at        timestamptz,       -- while too little is left, one request may ask at this time; null: none is planned
  asks          integer not null default 0 -- number of refusals and of requests that asked in vain, in a row
) with (fillfactor = 50);

-- Every sync that was ever configured, with the rule by which it selects pigeonholes.
create table syncs (
  name        text primary key,
  workspace   text not null,
  choice      json not null,
  created_at  timestamptz not null default now(),
  archived_at timestamptz
);

-- A reader keeps up to 25 pigeonholes current. The activity that stays with it takes it with a new epoch, and only the newest
-- epoch counts (decision 0088). A number is never used again.
create table readers (
  number integer generated always as identity primary key,
  epoch  bigint not null default 0,
  owner  text -- null: no process stays with it
);

-- One row per pigeonhole that was ever selected; id 0 is for the lists of the workspace itself. Sequences are assigned from
-- next_sequence under this row's lock, which lasts until commit, so transactions commit in the order of their sequences.
create table pigeonholes (
  pigeonhole_number integer generated always as identity primary key, -- the ledger's own, which the service does not know
  workspace         text not null,
  pigeonhole_id     bigint not null,
  status            text, -- as the service last reported it
  days              text, -- the event's days and their time zone, as the service last reported them
  next_sequence     bigint not null default 1,
  created_at        timestamptz not null default now(),
  gone_at           timestamptz, -- when the service no longer knew it; its items stay
  ended_at          timestamptz, -- when it was first seen as ended; null: it has not ended
  read_by_id_at     timestamptz, -- when it was last requested by its id
  -- a rehearsal, which reads the pigeonhole as if it were live (decision 0014)
  rehearsal_since   timestamptz,
  rehearsal_until   timestamptz,
  rehearsal_by      text,
  reader            integer references readers, -- null: no sync selects it
  asked             bigint not null default 0, -- increases with each change from outside that its reader has to notice
  unique (workspace, pigeonhole_id)
);
create index pigeonholes_reader on pigeonholes (reader) where reader is not null;

-- The pigeonholes that each sync reads. Discovery adds rows and removes none.
create table selections (
  sync              text not null,
  pigeonhole_number integer not null references pigeonholes,
  selected_at       timestamptz not null default now(),
  archived_at       timestamptz, -- when the configuration no longer selected it
  primary key (sync, pigeonhole_number)
);

-- Pauses by an operator (person) or by a problem (cause). Each is lifted separately. A pause because of a rejected
-- credential ends when the credential's fingerprint changes.
create table pauses (
  scope       text not null check (scope in ('workspace', 'pigeonhole', 'sink', 'import')),
  name        text not null,
  paused_by   text not null check (paused_by in ('person', 'cause')),
  cause       text not null,
  detail      text not null,
  fingerprint text,
  since       timestamptz not null default now(),
  actor       text, -- the operator who paused it; null: pigeonpost paused it, or the operator is not known
  primary key (scope, name, paused_by)
);

-- ---- reading

-- A list of a pigeonhole or of one of its sessions, which is read separately from others. session_id 0: of the pigeonhole.
-- A poll that finds nothing writes only the columns from `due_at` to `every_ms`. They are next to each other, because
-- PostgreSQL logs the bytes from the first to the last that changed. None of them has an index, and the fill factor leaves
-- room for the new version of a row on its page, so such an update writes no index entry.
create table streams (
  id                bigint generated always as identity primary key,
  pigeonhole_number integer not null references pigeonholes,
  list              text not null,
  session_id        bigint not null default 0,
  wanted            boolean not null default true,
  -- the lease of the reader: each attempt increases the epoch, and a commit under an older epoch is refused
  epoch             bigint not null default 0,
  -- the last read, and the plan for the next
  due_at            timestamptz not null default now(),
  polled_at         timestamptz, -- end of the last walk, whether poll or sweep
  swept_from        timestamptz, -- time of the last sweep's first request
  swept_at          timestamptz, -- end of the last sweep
  sweep_due_at      timestamptz default now(), -- null: a sweep is in progress, and no other was requested since it started
  sweeps            integer not null default 0, -- number of finished sweeps
  quiet_reads       integer not null default 0, -- number of consecutive reads that found nothing
  failures          integer not null default 0,
  wanted_ms         bigint,      -- the interval before the quota lengthens it
  every_ms          bigint,      -- the polling interval in force (decision 0014)
  every_reason      text,        -- the reason for it
  failure           text,
  changed_at        timestamptz, -- end of the last read that found something
  -- the order of the list, as observed; unknown until the first walk has finished
  item_order        text not null default 'unknown' check (item_order in ('unknown', 'ascending', 'descending', 'unordered')),
  clean_direction   text check (clean_direction in ('ascending', 'descending')), -- the direction that clean_walks counts
  clean_walks       integer not null default 0, -- number of consecutive walks in that direction
  promote_at        integer not null default 1, -- number of clean walks after which the order counts as observed; higher after a contradiction
  highest_id        bigint, -- of all items ever stored; higher ids are new. Null: no items, or no ids
  head_id           bigint, -- descending lists: all items up to this id were stored when the last read from the first page ended
  -- where the next poll starts; only if the list is ordered
  checkpoint        text,
  checkpoint_key    text,
  per_page          integer, -- items per page; with another number the checkpoint is useless, because items move to other pages
  -- sweeps
  page_count        integer,     -- number of pages of the last sweep
  item_count        integer,     -- number of items at the end of the last sweep
  set_aside         integer not null default 0, -- rows of the last sweep that have nothing to identify them by
  foreign_rows      integer not null default 0, -- rows of the last sweep from sessions other than the requested one; the service returns them if it ignores the filter
  differs           boolean not null default true, -- whether others than the last sweep have written rows since it started
  sequence_hash     bytea,       -- of the keys of the last sweep's pages
  sequence_since    timestamptz, -- time of the first of the consecutive sweeps with this sequence_hash
  -- when a list is read again from its first page (decision 0019)
  sweep_failures    integer not null default 0, -- consecutive failures of the sweep in progress at its present cursor
  cursors_discarded integer not null default 0, -- since a sweep last ended
  gone_count        integer not null default 0, -- number of consecutive reports of the service that the stream does not exist
  gone_since        timestamptz, -- time of the first of these reports
  gone_at           timestamptz, -- when the stream started to count as gone; its items stay, and it is read only rarely
  -- since when the answers look like those of another pigeonhole, and the keys that the first of them showed; null: they do not
  doubt_since       timestamptz,
  doubt_keys        text[],
  unique (pigeonhole_number, list, session_id)
) with (fillfactor = 50);

-- A walk in progress. A stream may have a poll and a sweep at the same time, each with its own position.
create table walks (
  stream_id    bigint not null references streams,
  kind         text not null check (kind in ('poll', 'sweep')),
  number       integer not null,     -- the number of the sweep; 0 for a poll
  started_at   timestamptz not null, -- by the database's clock; a sweep requested after this time needs another walk
  first_at     timestamptz not null, -- time of its first request
  cursor       text,                 -- the page to request next; null: the first
  checkpoint   text,                 -- cursor of the page at which the next poll would start if the walk ended now
  check_key    text,                 -- key of an item on that page
  direction    text check (direction in ('ascending', 'descending', 'mixed')), -- null: fewer than two items
  page_first   bigint,               -- value of the first item of the latest page, to determine the order across pages
  page_last    bigint,               -- value of the last item of the latest page
  through      boolean not null,     -- true: each cycle reads as many pages as it can; false: a few pages in addition to the poll
  until_id     bigint,               -- a poll from the first page of a descending list ends at this id, up to which all items were stored
  top_id       bigint,               -- the highest id on pages whose items are all older than a minute
  differs      boolean not null,     -- whether a page differed from the same page of the previous sweep
  pages        integer not null,
  items        integer not null,
  set_aside    integer not null,
  foreign_rows integer not null default 0,
  primary key (stream_id, kind)
);

-- The pages of a stream's last sweep, so that an unchanged page writes no row and a missing item is noticed. A sweep in
-- progress replaces them one by one.
create table pages (
  stream_id    bigint not null references streams,
  ordinal      integer not null, -- position in the sweep, from 0
  cursor       text,             -- the cursor with which the page was requested; null: the first page
  digest       bytea,            -- HMAC of request and body; if equal, its rows are as stored. Null: compare row by row
  keys         text[] not null,  -- keys of the items on the page
  first_value  bigint,           -- value of the first item: its id, or its time if the list has no ids
  last_value   bigint,
  low          bigint,
  high         bigint,
  direction    text check (direction in ('ascending', 'descending', 'mixed')),
  newest_at    bigint,           -- creation time of its newest item, epoch ms
  set_aside    integer not null,
  foreign_rows integer not null default 0,
  primary key (stream_id, ordinal)
);

create table items (
  pigeonhole_number integer not null,
  list              text not null,
  key               text not null,
  session_id        bigint,
  stream_id         bigint not null,
  revision          integer not null,
  content_hash      bytea not null, -- HMAC; a different hash means that the item changed
  copies_hash       bytea,          -- HMAC of texts copied from other items; a difference is no change of this item
  payload           json,           -- canonical JSON; null: deleted
  rules             text not null,  -- the reading rules; a difference that only the rules cause is no change
  -- whether sinks may see who created the item; `unknown` counts as anonymous; null: the list shows nobody
  visibility        text check (visibility in ('named', 'anonymous', 'unknown')),
  attendee_id       bigint,         -- the attendee who created the item; null if anonymous
  subject           bytea,          -- HMAC of the attendee; under another key if anonymous, so that no join finds the person's other rows
  says_anonymous    boolean,        -- sessions: anonymousResponses; lists with an anonymity flag: the flag
  consent           text check (consent in ('obtained', 'refused', 'not-asked', 'not-known')), -- only for attendees
  seen_at           timestamptz not null, -- time of the request that last changed this row
  last_sequence     bigint not null,
  erased            boolean not null default false, -- its person was forgotten; its data is never stored again
  expired           boolean not null default false, -- its retention has ended: the payload was removed, but the item still exists
  -- keyed hash of the creation instant and the author of a question, in the lists `questions` and `qna-questions`. A flag
  -- that shows the author counts only for the question with the same origin.
  origin            bytea,
  -- HMACs of the attendee code and the e-mail addresses in the record of an attendee, also in earlier revisions
  -- (decision 0099). Null in other lists.
  names             bytea[],
  primary key (pigeonhole_number, list, key)
);
-- Finds the items whose visibility may change together with their session. An attendee's record belongs to no session.
create index items_by_session on items (pigeonhole_number, session_id, list, key) where visibility is not null and session_id is not null;
-- Finds the items of an attendee whose identity is visible: to count them, and to send them again when consent changes.
create index items_of_attendee on items (pigeonhole_number, attendee_id) where visibility = 'named' and list <> 'attendees';
-- Finds what belongs to a person who has to be forgotten, in all pigeonholes.
create index items_of_subject on items (subject) where subject is not null and not erased;
create index items_erased on items (pigeonhole_number, list, key) where erased;
-- Finds the records of a person who is named by a code or an e-mail address, in all pigeonholes. The pending list of the
-- index is short (256 kB), because the insert that fills it has to empty it: with 4 MB, that took 300 ms instead of 60.
create index items_named on items using gin (names) with (gin_pending_list_limit = 256) where names is not null;

-- The number of items with a payload of each pigeonhole, by list (decision 0095). Rows of 0 stay.
create table item_counts (
  pigeonhole_number integer not null,
  list              text not null,
  items             bigint not null,
  primary key (pigeonhole_number, list)
);

create function count_items() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into item_counts as c (pigeonhole_number, list, items)
      select n.pigeonhole_number, n.list, count(*) from new_rows n where n.payload is not null group by 1, 2 order by 1, 2
      on conflict (pigeonhole_number, list) do update set items = c.items + excluded.items;
  elsif tg_op = 'UPDATE' then
    insert into item_counts as c (pigeonhole_number, list, items)
      select d.pigeonhole_number, d.list, sum(d.n) from (
        select n.pigeonhole_number, n.list, 1 as n from new_rows n where n.payload is not null
        union all select o.pigeonhole_number, o.list, -1 from old_rows o where o.payload is not null) d
      group by 1, 2 having sum(d.n) <> 0 order by 1, 2
      on conflict (pigeonhole_number, list) do update set items = c.items + excluded.items;
  else
    insert into item_counts as c (pigeonhole_number, list, items)
      select o.pigeonhole_number, o.list, -count(*) from old_rows o where o.payload is not null group by 1, 2 order by 1, 2
      on conflict (pigeonhole_number, list) do update set items = c.items + excluded.items;
  end if;
  return null;
end $$;

create trigger items_are_counted_in after insert on items
  referencing new table as new_rows for each statement execute function count_items();
create trigger items_are_counted_again after update on items
  referencing old table as old_rows new table as new_rows for each statement execute function count_items();
create trigger items_are_counted_out after delete on items
  referencing old table as old_rows for each statement execute function count_items();

-- What a search finds by words: sessions, pigeonholes, questions, and people (decision 0113).
create table search_entries (
  pigeonhole_number integer not null,
  list              text not null,
  key               text not null,
  words             bigint[] not null, -- HMACs of the beginnings of its words. An index of words would keep each word for ever
  primary key (pigeonhole_number, list, key)
);
create index search_entries_words on search_entries using gin (words) with (gin_pending_list_limit = 256);

-- The changes of a pigeonhole up to this sequence are in search_entries.
create table search_positions (
  pigeonhole_number integer primary key,
  position          bigint not null
);

create table changes (
  pigeonhole_number integer not null,
  sequence          bigint not null,
  id                uuid not null,
  list              text not null,
  key               text not null,
  revision          integer not null,
  kind              text not null check (kind in ('created', 'updated', 'deleted')),
  session_id        bigint,
  visibility        text check (visibility in ('named', 'anonymous')), -- as determined at that time; delivery may only change it to anonymous
  found_at          timestamptz not null,
  previous_sequence bigint, -- the item's previous change; null: none
  snapshot          json,   -- the payload after this change; null while `items` still has it, and for deletions
  request_id        text,   -- id of the service's response that showed the change; null: no response, or one without an id
  read_as           text,   -- the read and the page that found it, in words
  primary key (pigeonhole_number, sequence)
);
-- Finds the content whose retention ends next.
create index changes_expiring on changes (pigeonhole_number, sequence) where snapshot is not null;
create index changes_with_snapshot on changes (pigeonhole_number, list, key) where snapshot is not null;

-- Sessions whose items must get a new visibility after a change of the session, if they were too many for its transaction.
create table visibility_reviews (
  pigeonhole_number integer not null,
  session_id        bigint not null,
  after_list        text not null,
  after_key         text not null,
  needs             timestamptz, -- the lists that decide about anonymity must have been read by requests after this instant; null: the review is due
  primary key (pigeonhole_number, session_id)
);

-- Items that a sweep did not find. They may have been deleted (decision 0020).
create table missing (
  pigeonhole_number integer not null,
  list              text not null,
  key               text not null,
  stream_id         bigint not null references streams,
  since             timestamptz not null,       -- time of the first request of the first sweep that did not find the item
  walks             integer not null default 0, -- number of sweeps of an ascending list that showed its neighbours on one page without it
  looked_up_at      timestamptz,                -- when it was last requested with a filter
  lacked_at         timestamptz,                -- when it was proved missing in this stream; it may have moved to another session
  state             text not null default 'open' check (state in ('open', 'held', 'kept')), -- kept: an operator rejected the deletion
  hold              bigint,
  confirm_at        timestamptz,                -- from when a second response may confirm the deletion; null: not proved missing yet
  evident_at        timestamptz not null default now(), -- when the evidence was complete; `since` can be minutes earlier
  steady_walks      integer not null default 0, -- number of walks that lacked it and overlooked no other item, which prove its deletion in a list without order
  primary key (pigeonhole_number, list, key)
);
create index missing_of_stream on missing (stream_id);

-- Deletions that wait for an operator, because they are many at the same time: more than a number and a share of a list.
create table holds (
  id                bigint generated always as identity primary key,
  pigeonhole_number integer not null references pigeonholes,
  list              text not null,
  found_at          timestamptz not null default now(),
  items             integer not null, -- number of missing items
  of_items          integer not null, -- number of items that the list had
  decision          text check (decision in ('confirmed', 'rejected')),
  decided_at        timestamptz
);

-- Number of deletions of a list in the current hour, because many small deletions count like one large one.
create table recent_deletions (
  pigeonhole_number integer not null references pigeonholes,
  list              text not null,
  since             timestamptz not null,
  items             integer not null,
  primary key (pigeonhole_number, list)
);

-- The passes that remove payloads of a list after its retention; `changes`: earlier revisions of all lists.
create table retention_passes (
  pigeonhole_number integer not null references pigeonholes,
  list              text not null,
  after_key         text,        -- position of the pass in progress; null: none
  passed_at         timestamptz, -- when the last pass finished
  position          bigint,      -- `changes`: the histories of items are condensed up to this sequence
  primary key (pigeonhole_number, list)
);

-- ---- the derived lists

-- The list of engagement: the activity of attendees, counted from stored items (decision 0022).
create table engagement_counts (
  pigeonhole_number integer primary key references pigeonholes,
  position          bigint not null default 0, -- changes up to this sequence are counted
  rule              integer not null,          -- version of the counting rule at the last complete count
  pass_due_at       timestamptz,               -- when all attendees are counted again; null: not needed
  pass_began_at     timestamptz,
  after_attendee    bigint                     -- position of the pass in progress; null: none
);

-- Poll questions that were ever answered. They still count as offered when an answer is withdrawn.
create table engagement_prompts (
  pigeonhole_number integer not null references pigeonholes,
  session_id        bigint not null,
  prompt            text not null,
  primary key (pigeonhole_number, session_id, prompt)
);

-- The list of registrants, derived from imports and from attendees who signed in (decision 0022).
create table registrant_lists (
  pigeonhole_number integer primary key references pigeonholes,
  position          bigint not null default 0, -- changes of attendees up to this sequence are processed
  rules             text not null              -- the rules by which items are derived; if they change, all items are derived again
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
  pigeonhole_number integer not null references pigeonholes,
  attendee_id       bigint not null,
  code_hash         bytea,   -- HMAC of the attendee code
  registrant_id     bigint,
  signed_in_at      text,    -- as the service reports it; null: not signed in yet
  subject           bytea not null, -- HMAC of the attendee, by which an erasure finds the row
  primary key (pigeonhole_number, attendee_id)
);
create index sign_ins_by_code on sign_ins (pigeonhole_number, code_hash) where code_hash is not null;
create index sign_ins_by_registrant on sign_ins (pigeonhole_number, registrant_id) where registrant_id is not null;

-- ---- delivering

create table sinks (
  id            integer generated always as identity primary key,
  name          text not null unique,
  type          text not null,
  created_at    timestamptz not null default now(),
  archived_at   timestamptz,
  history_ms    bigint,      -- age limit of existing changes that a new lane delivers; null: all, 0: none
  failing_since timestamptz, -- since when no lane of the sink has delivered; null: a lane delivers
  retry_at      timestamptz, -- when one of the lanes tries again
  try_now_at    timestamptz  -- when an operator last requested a retry, so that every process ends the wait that the destination requested
);

-- A sink's queue for one pigeonhole.
create table lanes (
  sink_id                integer not null references sinks,
  pigeonhole_number      integer not null references pigeonholes,
  owner                  text, -- null: the lane was released, and nothing is in flight
  epoch                  bigint not null default 0,
  lease_expires_at       timestamptz,
  history_until          bigint not null, -- up to this sequence, only the last change of each item is delivered
  watermark              bigint not null default 0,
  configuration          integer,          -- the configuration under which the lane last sent; null: it never sent
  lists                  text not null default '', -- the lists that the sink received under it, separated by spaces
  memory                 json not null default '{}',
  due_at                 timestamptz, -- when the earliest open delivery is due; null: there is none
  retry_at               timestamptz, -- after a failure: nothing is sent before this time
  failing_since          timestamptz,
  failure                text,
  delivered              bigint not null default 0,
  delivered_at           timestamptz,
  history_since          timestamptz, -- of the existing changes, only those found since then; null: all
  observed               bigint,      -- position of `mode: observe`; null: not observing
  observed_configuration integer,     -- under another configuration, counting starts again
  settings               text,        -- keyed fingerprint of the sink's settings with which the lane last sent, so that dead letters are sent again when they change; null: not recorded yet
  -- the decisions about the last few hundred settled changes of each list, as JSON. They show whether a sink withholds more
  -- than before.
  recent                 text not null default '{}',
  -- since when the lane is being filled (from its start, or from a replay, until nothing is left). Meanwhile, the age of its
  -- waiting changes does not mean that the sink is behind.
  filling_at             timestamptz default now(),
  primary key (sink_id, pigeonhole_number)
);

-- The state of each change at each sink. A change at or below the watermark that has no row was not for the sink. A change
-- has one delivery of its own (replay 0), and one more for each replay.
create table deliveries (
  sink_id           integer not null,
  pigeonhole_number integer not null,
  sequence          bigint not null,
  list              text not null,
  key               text not null,
  revision          integer not null,
  state             text not null check (state in ('waiting', 'sending', 'retry', 'delivered', 'withheld', 'superseded', 'dead')),
  reason            text, -- withheld: the reason; dead: the cause that groups dead letters
  detail            text, -- the destination's answer, in a sentence without personal data
  attempts          integer not null default 0,
  due_at            timestamptz,
  identity          boolean, -- whether the person's identity was sent; later attempts may only hide it
  configuration     integer not null,
  updated_at        timestamptz not null default now(),
  replay            integer not null default 0,
  redriven          boolean, -- true from the redrive of a dead letter until the delivery is settled, so that it becomes one again when it is refused again; null otherwise
  primary key (sink_id, pigeonhole_number, sequence, replay)
);
-- Without statistics, or with statistics that do not cover a pigeonhole, the planner considers the primary key as good as an
-- index of open deliveries, and every look-up reads everything ever delivered. These indexes start with an expression. A
-- condition with the same expression can use only that index (decision 0038).
create index deliveries_of_item on deliveries ((sink_id + 0), pigeonhole_number, list, key, sequence, replay)
  where state in ('waiting', 'sending', 'retry', 'dead');
create index deliveries_in_order on deliveries ((sink_id::int8 << 32 | pigeonhole_number), sequence, replay) where state in ('waiting', 'retry');
create index deliveries_sending on deliveries ((sink_id::int8 << 32 | pigeonhole_number), sequence, replay) where state = 'sending';
-- For each change of a person's own record, delivery looks up what the sink received before. The index contains neither
-- other lists nor withheld changes, and no delivery while it is being sent, which no query needs.
create index deliveries_told_settled on deliveries ((sink_id + 0), pigeonhole_number, list, key, sequence, replay)
  where list in ('attendees', 'engagement', 'registrants') and identity is not null and state <> 'sending';
create index deliveries_parked on deliveries (sink_id, pigeonhole_number, list, state, reason) where state in ('withheld', 'dead');

-- The number of deliveries of each lane by list, state and reason (decisions 0061 and 0095). Rows of 0 stay.
create table delivery_counts (
  sink_id           integer not null,
  pigeonhole_number integer not null,
  list              text not null,
  state             text not null,
  reason            text not null, -- the reason for withheld and dead; empty for other states
  changes           bigint not null, -- including delivered ones that retention has dropped
  dropped           bigint not null default 0, -- the number of those
  primary key (sink_id, pigeonhole_number, list, state, reason)
);

-- A delivery by a replay counts only while it is open, and as a dead letter, because the change itself has its own delivery
-- (decision 0015).
create function count_deliveries() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into delivery_counts as c (sink_id, pigeonhole_number, list, state, reason, changes)
      select n.sink_id, n.pigeonhole_number, n.list, n.state, case when n.state in ('withheld', 'dead') then coalesce(n.reason, '') else '' end, count(*)
      from new_rows n where n.replay = 0 or n.state not in ('delivered', 'withheld', 'superseded')
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (sink_id, pigeonhole_number, list, state, reason) do update set changes = c.changes + excluded.changes;
  elsif tg_op = 'UPDATE' then
    insert into delivery_counts as c (sink_id, pigeonhole_number, list, state, reason, changes)
      select d.sink_id, d.pigeonhole_number, d.list, d.state, case when d.state in ('withheld', 'dead') then coalesce(d.reason, '') else '' end, sum(d.n)
      from (select n.sink_id, n.pigeonhole_number, n.list, n.state, n.reason, n.replay, 1 as n from new_rows n
        union all select o.sink_id, o.pigeonhole_number, o.list, o.state, o.reason, o.replay, -1 from old_rows o) d
      where d.replay = 0 or d.state not in ('delivered', 'withheld', 'superseded')
      group by 1, 2, 3, 4, 5 having sum(d.n) <> 0 order by 1, 2, 3, 4, 5
      on conflict (sink_id, pigeonhole_number, list, state, reason) do update set changes = c.changes + excluded.changes;
  else
    -- Retention deletes deliveries. Those that were delivered remain counted.
    insert into delivery_counts as c (sink_id, pigeonhole_number, list, state, reason, changes, dropped)
      select o.sink_id, o.pigeonhole_number, o.list, o.state, case when o.state in ('withheld', 'dead') then coalesce(o.reason, '') else '' end,
        case when o.state = 'delivered' then 0 else -count(*) end, case when o.state = 'delivered' then count(*) else 0 end
      from old_rows o where o.replay = 0 or o.state not in ('delivered', 'withheld', 'superseded')
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (sink_id, pigeonhole_number, list, state, reason) do update set changes = c.changes + excluded.changes,
        dropped = c.dropped + excluded.dropped;
  end if;
  return null;
end $$;

create trigger deliveries_are_counted_in after insert on deliveries
  referencing new table as new_rows for each statement execute function count_deliveries();
create trigger deliveries_are_counted_again after update on deliveries
  referencing old table as old_rows new table as new_rows for each statement execute function count_deliveries();
create trigger deliveries_are_counted_out after delete on deliveries
  referencing old table as old_rows for each statement execute function count_deliveries();

-- The batch that a lane is sending (decision 0053): committed before the first call to the sink, deleted with its outcomes. As
-- deliveries, its changes would be inserted as `sending` and then updated: two versions of each row, and eight index entries.
create table intents (
  sink_id           integer not null,
  pigeonhole_number integer not null,
  -- The watermark of the lane once the batch is settled.
  reached           bigint not null,
  configuration     integer not null,
  begun_at          timestamptz not null default clock_timestamp(),
  sequences         bigint[] not null,
  replays           integer[] not null,
  -- Whether each change is sent with the identity of its person.
  identities        boolean[] not null,
  primary key (sink_id, pigeonhole_number),
  foreign key (sink_id, pigeonhole_number) references lanes
);

-- The log of attempts (decision 0115): every failed one, and the last part of those that succeeded. Rows are deleted when
-- `retention.attempts` ends.
create table attempts (
  number            bigint generated always as identity primary key,
  sink_id           integer not null,
  pigeonhole_number integer not null,
  sequence          bigint not null,
  replay            integer not null,
  list              text not null,
  key               text not null,
  revision          integer not null,
  identity          boolean not null, -- whether the person's identity was sent
  try               integer not null, -- from 1
  at                timestamptz not null default clock_timestamp(),
  duration_ms       integer not null,
  outcome           text not null check (outcome in ('delivered', 'retry', 'rejected', 'unknown', 'pause')),
  cause             text,
  detail            text,    -- as in `deliveries`
  status            integer, -- HTTP status of the last answer
  request_id        text,    -- id of the destination's answer
  content           json     -- the requests and the answers; null: not kept, or removed with the item's data
);
create index attempts_newest on attempts (sink_id, number);
create index attempts_failed on attempts (sink_id, number) where outcome <> 'delivered';
create index attempts_of_item on attempts (pigeonhole_number, list, key);

-- The records or messages that sinks created for items, so that a later change updates the same one.
create table sink_objects (
  sink_id           integer not null references sinks,
  pigeonhole_number integer not null,
  list              text not null,
  key               text not null,
  object            json not null, -- remote ids and states; never personal data
  updated_at        timestamptz not null default now(),
  primary key (sink_id, pigeonhole_number, list, key)
);

-- Requests of operators to send stored items again.
create table replays (
  number       integer generated always as identity primary key,
  id           uuid not null unique, -- part of the envelope of every change that the replay emits
  lists        text,        -- separated by spaces; null: all lists that the sink receives
  keys         text[],      -- only these items of the one list; null: all items
  from_at      timestamptz, -- only items that changed since then; null: all items
  requested_at timestamptz not null default now(),
  requested_by text,
  reason       text,
  repair       boolean not null default false -- true: it sends only the findings of an audit that are part of the repair
);

-- The position of a replay on a lane. It never passes the watermark, so a replay never overtakes a change in flight.
create table replay_lanes (
  replay            integer not null references replays,
  sink_id           integer not null references sinks,
  pigeonhole_number integer not null references pigeonholes,
  until             bigint not null,           -- the newest sequence at the time of the request
  position          bigint not null default 0, -- every change up to this sequence has its delivery or needs none
  emitted           integer not null default 0, -- number of deliveries created, including withheld ones
  done_at           timestamptz,               -- when every delivery was created; the deliveries themselves may not be settled yet
  total             integer not null,          -- number of items to send, counted when the replay is requested
  sent              integer not null default 0, -- number of items that the destination accepted
  primary key (replay, sink_id, pigeonhole_number)
);
create index replay_lanes_open on replay_lanes (sink_id, pigeonhole_number) where done_at is null;

-- The number of changes between the watermark and the position of an observing sink, by what the sink would do with them.
create table observations (
  sink_id           integer not null,
  pigeonhole_number integer not null,
  outcome           text not null check (outcome in ('send', 'send-anonymous', 'withhold', 'supersede')),
  reason            text not null default '',
  changes           bigint not null,
  primary key (sink_id, pigeonhole_number, outcome, reason)
);

-- An operator's approval of an observing sink. The sink sends as long as it has this destination.
create table approvals (
  sink_id     integer primary key references sinks,
  destination text not null, -- keyed fingerprint
  approved_by text,
  reason      text,
  since       timestamptz not null default now()
);

-- Credentials that change with use (a refresh token that its vendor replaces each time), encrypted under the ledger's key
-- (decision 0076). One row for each credential that an operator configured.
create table kept_credentials (
  name          text primary key, -- keyed fingerprint of what the operator configured
  version       bigint not null default 0, -- number of replacements; a process that finds another number than it read was too late
  sealed        bytea, -- null: no replacement was stored yet
  claimed_by    uuid, -- the process that is replacing it now
  claimed_until timestamptz,
  updated_at    timestamptz not null default now()
);

-- The nightly exports of each pigeonhole to a sink: one row for each night, until its files are removed (decision 0111).
create table nightly_exports (
  sink              text not null,
  pigeonhole_number integer not null references pigeonholes,
  night             date not null, -- the day of the export in its time zone
  owner             text not null, -- the process that writes it or wrote it
  claimed_until     timestamptz not null, -- after it, another process may write it
  failure           text, -- why the last attempt failed, without personal data
  failing_since     timestamptz, -- of the first failed attempt; null: none has failed since it was written
  written_at        timestamptz, -- null: not written yet
  next_sequence     bigint, -- of the pigeonhole when it was written; unchanged: there is nothing new to export
  erased            bigint, -- number of erased items of the pigeonhole when it was written
  files             text, -- JSON array of their names at the sink
  primary key (sink, pigeonhole_number, night)
);

-- ---- parity: what destinations hold, compared with what they received (decision 0109)

-- The audit of a lane, and the pass in progress. Counts, times and the position only. Only lanes that were audited have a row.
create table parity_passes (
  sink_id           integer not null references sinks,
  pigeonhole_number integer not null references pigeonholes,
  requested_at      timestamptz, -- an operator requested a pass that has not started yet; null: none is requested
  number            integer not null default 0, -- of the pass in progress, or of the last one
  started_at        timestamptz, -- of the pass in progress; null: none is in progress
  requested         boolean not null default false, -- an operator requested the pass in progress
  stage             text not null default 'items' check (stage in ('items', 'again')), -- again: entries that waited for a delivery are read again
  after_list        text, -- position: the last item that was compared; null: none yet
  after_key         text,
  after_sequence    bigint not null default 0, -- position in a log: the last revision; in the stage `again`: the last finding
  checked           integer not null default 0, -- number of entries that the pass in progress has compared
  failures          integer not null default 0, -- number of consecutive slices that could not be read
  failure           text,
  due_at            timestamptz, -- after a failure: nothing is read before this time
  ended_at          timestamptz, -- end of the last finished pass
  compared          integer not null default 0, -- number of entries that it compared
  primary key (sink_id, pigeonhole_number)
);

-- The differences that audits found: names, codes, ids and times, never a value. An entry is an item or, in a log, a revision.
create table parity_findings (
  number            bigint generated by default as identity, -- a new one when the action of a repair changes
  sink_id           integer not null,
  pigeonhole_number integer not null,
  pass              integer not null, -- number of the pass that found it last
  list              text not null,
  key               text not null,
  entry             bigint not null, -- in a log: the sequence of the revision; otherwise 0
  copy              text not null,   -- id of a further object with our mark; empty: the entry itself
  revision          integer not null,
  class             text not null check (class in ('stale', 'changed', 'missing', 'extra', 'unreadable', 'undelivered')),
  action            text check (action in ('send', 'remove', 'remove-copy')), -- of a repair; null: an operator has to act
  cause             text,            -- stale: what is old; unreadable: the cause that the sink declares
  fields            text[] not null, -- names of the fields that differ
  changed_by        text,            -- id or kind of a user or integration at the vendor
  changed_at        timestamptz,
  object            json,            -- remote ids that a repair stores before it sends the item; null: the stored ones are right
  seen_at           timestamptz not null default clock_timestamp(), -- when it was found last
  repair            integer references replays, -- the repair that contains it; null: none
  sent              boolean not null default false, -- true once its repair was passed to the delivery
  primary key (sink_id, pigeonhole_number, list, key, entry, copy)
);
create index parity_findings_numbered on parity_findings (sink_id, pigeonhole_number, number);
create index parity_findings_repaired on parity_findings (sink_id, pigeonhole_number) where repair is not null;

-- ---- importing

-- An import of one file (decision 0025).
create table imports (
  number            integer generated always as identity primary key,
  id                uuid not null unique,
  pigeonhole_number integer not null references pigeonholes,
  file              text not null,
  mapping           json not null,
  requested_by      text,
  canary            integer,          -- number of rows to send; null: all
  state             text not null default 'staging' check (state in ('staging', 'running', 'done', 'cancelled')),
  created_at        timestamptz not null default now(),
  touched_at        timestamptz not null default now(), -- when the last rows were staged; without further ones for some time, the import counts as abandoned
  started_at        timestamptz,
  ended_at          timestamptz,
  cancel_asked_at   timestamptz,      -- when an operator cancelled it; requests in progress are settled first
  cancel_asked_by   text,
  rows_claimed      integer not null default 0, -- at its start: number of rows that this import has to send
  last_row          integer not null default 0, -- highest number of a staged row
  rows_other        integer not null default 0, -- at its start: number of all other rows, which are in import_rows
  -- sending
  owner             text,
  epoch             bigint not null default 0, -- each attempt increases it; a commit under an older epoch is refused
  round             integer not null default 0, -- 0: rows claimed while staging; later rounds: rows that other imports gave up
  position          integer not null default 0, -- all rows of the round up to this one are in chunks
  begun             integer not null default 0, -- number of rows in chunks
  request_number    integer not null default 0, -- number of the latest request; each request has its own
  requests          integer not null default 0, -- number of requests that the service received or may have received
  chunk_size        integer not null,
  passed            integer not null default 0, -- number of consecutive successful requests
  failures          integer not null default 0, -- number of consecutive requests without a conclusive answer
  failure           text,
  retry_at          timestamptz,
  requested_token   text, -- the id of the named token that started it; null: another caller or a drop folder
  -- number of erasures that changed rows of the import. A statement that waited for the lock on the import reads the
  -- registrants as they were before the wait. If the count has changed meanwhile, it must not send them.
  erasures          integer not null default 0
);
create index imports_open on imports (number) where state in ('staging', 'running');
create index imports_of_pigeonhole on imports (pigeonhole_number);

-- The registrants of a pigeonhole: one row per code. One import claims the row, and only that import may send it.
create table registrants (
  pigeonhole_number integer not null,
  code_hash         bytea not null,          -- HMAC of the attendee code
  import            integer not null,
  round             integer not null default 0,
  row_number        integer not null,        -- row of the file; row 1 is its header
  data_hash         bytea not null,          -- HMAC of the profile
  profile           json not null,           -- canonical JSON, as it is sent
  names             bytea[],                 -- HMACs of its code and its e-mail addresses, as in items
  outcome           text check (outcome in ('created', 'confirmed', 'existing', 'conflict', 'rejected', 'unknown')), -- null: the outcome of its chunk
  field             text,                    -- refused: field and message of the answer. Must not be logged: they may quote values
  message           text,
  request_id        text,
  origin            integer,                 -- the request of this import that may have created the registrant before a later one refused it
  sent              text check (sent in ('refused', 'unknown')), -- the outcome of that request
  primary key (pigeonhole_number, code_hash)
);
create index registrants_named on registrants using gin (names) with (gin_pending_list_limit = 256) where names is not null;
create index registrants_by_import on registrants (import, row_number);
create index registrants_in_doubt on registrants (import, origin) where origin is not null;
create index registrants_settled on registrants (import, outcome) where outcome is not null;

-- A range of an import's rows. It applies to those rows that have no outcome of their own. Ranges of a round do not overlap.
create table import_chunks (
  import     integer not null,
  round      integer not null,
  first_row  integer not null,
  last_row   integer not null,
  state      text not null check (state in ('open', 'sending', 'created')),
  row_count  integer not null,
  sent       text not null default 'never' check (sent in ('never', 'refused', 'unknown')), -- the outcome of earlier requests with its rows; unknown: the service may have them
  origin     integer,                  -- the request that may have created its rows
  suspects   integer,                  -- one of its first N rows is the refused one; null: no row is suspected
  next_count integer,                  -- number of its first rows to send next; null: all
  fruitful   boolean not null default false, -- true if rows were created since the last refusal of a row
  unknowns   integer not null default 0, -- number of consecutive requests with an unknown outcome
  sent_count integer,                  -- sending: number of its first rows in the request in progress
  request    integer,                  -- sending: the number of the request in progress
  request_id text,
  due_at     timestamptz not null default now(),
  primary key (import, round, first_row)
);
create index import_chunks_unsettled on import_chunks (import, state, due_at) where state <> 'created';

-- Rows of a file that this import does not send, because another import holds the code or the row is invalid.
create table import_rows (
  import     integer not null,
  row_number integer not null,
  code_hash  bytea,
  data_hash  bytea,
  profile    json not null,
  names      bytea[], -- HMACs of its code and its e-mail addresses, as in items
  outcome    text not null check (outcome in
    ('waiting', 'created', 'confirmed', 'existing', 'conflict', 'rejected', 'unknown', 'cancelled', 'invalid')),
  field      text,
  message    text,
  request_id text,
  problems   json, -- invalid: the problems, by column
  primary key (import, row_number)
);
create index import_rows_named on import_rows using gin (names) with (gin_pending_list_limit = 256) where names is not null;
create index import_rows_waiting on import_rows (import, row_number) where outcome = 'waiting';

-- The number of rows of each import by outcome (decision 0095). `open`: rows that the import has claimed and that have no
-- outcome of their own; `sent`: those of them that are in created chunks. Rows of 0 stay.
create table import_counts (
  import  integer not null,
  outcome text not null,
  rows    bigint not null,
  primary key (import, outcome)
);

create function count_import_rows() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into import_counts as c (import, outcome, rows)
      select n.import, coalesce(n.outcome, 'open'), count(*) from new_rows n group by 1, 2 order by 1, 2
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  elsif tg_op = 'UPDATE' then
    insert into import_counts as c (import, outcome, rows)
      select d.import, d.outcome, sum(d.n) from (
        select n.import, coalesce(n.outcome, 'open') as outcome, 1 as n from new_rows n
        union all select o.import, coalesce(o.outcome, 'open'), -1 from old_rows o) d
      group by 1, 2 having sum(d.n) <> 0 order by 1, 2
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  else
    insert into import_counts as c (import, outcome, rows)
      select o.import, coalesce(o.outcome, 'open'), -count(*) from old_rows o group by 1, 2 order by 1, 2
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  end if;
  return null;
end $$;

create trigger registrants_are_counted_in after insert on registrants
  referencing new table as new_rows for each statement execute function count_import_rows();
create trigger registrants_are_counted_again after update on registrants
  referencing old table as old_rows new table as new_rows for each statement execute function count_import_rows();
create trigger registrants_are_counted_out after delete on registrants
  referencing old table as old_rows for each statement execute function count_import_rows();
create trigger import_rows_are_counted_in after insert on import_rows
  referencing new table as new_rows for each statement execute function count_import_rows();
create trigger import_rows_are_counted_again after update on import_rows
  referencing old table as old_rows new table as new_rows for each statement execute function count_import_rows();
create trigger import_rows_are_counted_out after delete on import_rows
  referencing old table as old_rows for each statement execute function count_import_rows();

create function count_sent_rows() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into import_counts as c (import, outcome, rows)
      select n.import, 'sent', sum(n.row_count) from new_rows n where n.state = 'created' group by 1 order by 1
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  elsif tg_op = 'UPDATE' then
    insert into import_counts as c (import, outcome, rows)
      select d.import, 'sent', sum(d.n) from (
        select n.import, n.row_count as n from new_rows n where n.state = 'created'
        union all select o.import, -o.row_count from old_rows o where o.state = 'created') d
      group by 1 having sum(d.n) <> 0 order by 1
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  else
    insert into import_counts as c (import, outcome, rows)
      select o.import, 'sent', -sum(o.row_count) from old_rows o where o.state = 'created' group by 1 order by 1
      on conflict (import, outcome) do update set rows = c.rows + excluded.rows;
  end if;
  return null;
end $$;

create trigger chunks_are_counted_in after insert on import_chunks
  referencing new table as new_rows for each statement execute function count_sent_rows();
create trigger chunks_are_counted_again after update on import_chunks
  referencing old table as old_rows new table as new_rows for each statement execute function count_sent_rows();
create trigger chunks_are_counted_out after delete on import_chunks
  referencing old table as old_rows for each statement execute function count_sent_rows();

-- A workspace's mappings from the columns of a file to fields, saved under a name for later events.
create table import_mappings (
  workspace text not null,
  name      text not null,
  columns   json not null, -- columns and their fields; null: the column is not sent
  saved_at  timestamptz not null default now(),
  saved_by  text,
  primary key (workspace, name)
);

-- A file in a drop folder, identified by its content. It has one row and one import, even if several processes find it.
create table dropped_files (
  pigeonhole_number integer not null references pigeonholes,
  content_hash      bytea not null, -- HMAC of the file's bytes
  terms_hash        bytea not null, -- HMAC of the settings for reading it; an unusable file is tried again when they change
  import            uuid not null,  -- id of its import, chosen before the import starts, so that a crash cannot cause a second import
  state             text not null check (state in ('claimed', 'importing', 'reported', 'unusable')),
  problem           text,           -- unusable: the reason, as a sentence for the operator
  owner             text not null,  -- the process that claimed it
  claimed_until     timestamptz not null,
  claims            integer not null default 0, -- how often it was claimed without a result. A file that crashes every process that reads it is set aside
  primary key (pigeonhole_number, content_hash)
);

-- Objects of an event file that "pigeonpost apply" creates in the service. A row is written before its request.
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

-- ---- people

-- A request to forget a person (decision 0029).
create table erasures (
  number       integer generated always as identity primary key,
  id           uuid not null unique,
  asked_hash   bytea not null,    -- HMAC of the name in the request, to recognize a repeated request
  names        json,              -- ids, codes and names by which the person is found; null once the ledger is cleared
  requested_by text,
  reason       text,
  requested_at timestamptz not null default now(),
  cleared_at   timestamptz,       -- the ledger holds nothing of the person any more
  ended_at     timestamptz        -- every place has answered, or an operator has to act there
);
create index erasures_open on erasures (number) where ended_at is null;
create index erasures_asked on erasures (asked_hash);

-- The ledger stores nothing of these people.
create table forgotten (
  workspace text not null,
  subject   bytea not null,       -- HMAC of the attendee id; one row for named and one for anonymous items
  erasure   integer not null references erasures,
  primary key (workspace, subject)
);
-- No one is imported with these attendee codes.
create table forgotten_codes (
  pigeonhole_number integer not null references pigeonholes,
  code_hash         bytea not null,
  erasure           integer not null references erasures,
  primary key (pigeonhole_number, code_hash)
);

-- Erased items that a sink received. A row remains until the sink has answered the change that removes the item.
create table erasing (
  sink_id           integer not null,
  pigeonhole_number integer not null,
  list              text not null,
  key               text not null,
  sequence          bigint not null,       -- sequence of that change
  erasure           integer not null references erasures,
  primary key (sink_id, pigeonhole_number, list, key)
);

-- The outcome of an erasure at each place.
create table erasure_receipts (
  erasure integer not null references erasures,
  place   text not null,
  count   integer not null,
  outcome text not null check (outcome in ('erased', 'told', 'nothing', 'waiting', 'by-hand')),
  detail  text,
  todo    text,                   -- what the operator has to do
  at      timestamptz not null default clock_timestamp(),
  primary key (erasure, place)
);

-- ---- operating

-- Access for programs and people (decision 0046). A token is shown only once, when it is created. Only its hash is stored.
create table tokens (
  id           text primary key, -- the public part of the token
  name         text not null,
  hash         bytea not null,
  roles        text not null, -- separated by spaces
  workspace    text, -- null: all
  created_at   timestamptz not null default clock_timestamp(),
  created_by   text not null,
  expires_at   timestamptz, -- null: never
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create unique index tokens_by_name on tokens (name) where revoked_at is null;

-- The sessions of browsers, so that a person can end one, and nothing derived from a token leaves the process.
create table page_sessions (
  hash       bytea primary key,   -- SHA-256 of the session's text, which has 256 random bits
  holder     text not null,       -- `server.token`, `local`, or the id of a named token
  under      text not null,       -- fingerprint of the administrator's token; another token ends all sessions
  expires_at timestamptz not null
);

-- Two rows per action: the request, written before the action starts, and its outcome. If the second row is missing, the
-- action is still running, or its process ended first.
create table audit (
  number     bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  asked      bigint references audit (number), -- in the row of an outcome: the row of the request
  who        text,
  token      text, -- the id of a named token
  action     text,
  target     text,
  detail     json, -- counts and codes only
  subject    bytea, -- HMAC of the person whose data was shown, as in items
  request_id text not null,
  outcome    text check (outcome in ('done', 'refused', 'failed')),
  status     integer,
  check ((asked is null) = (action is not null)),
  check ((asked is null) = (outcome is null))
);
create unique index audit_ends on audit (asked) where asked is not null;

create function refuse_to_rewrite_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only added to';
end $$;
create trigger audit_is_only_added_to before update or delete on audit
  for each statement execute function refuse_to_rewrite_audit();

-- Totals by minute: the number of changes of a pigeonhole (sink 0), and the number of changes that a lane has delivered. A
-- minute in which a total does not change has no row. After a day, the last minute of each ten is kept, for eight days.
create table progress (
  pigeonhole_number integer not null,
  sink_id           integer not null,
  minute            timestamptz not null,
  total             bigint not null,
  settled           bigint, -- of a lane: changes that need no further work, which is its watermark without open deliveries
  primary key (pigeonhole_number, sink_id, minute)
);

-- Starts of processes in the last eight days.
create table starts (
  at timestamptz primary key default clock_timestamp()
);

-- Conditions that cause an alert now, or did so recently (decision 0030). One row each, so that no process sends an alert
-- twice.
create table alerts (
  code      text not null, -- of a problem or an event (operations/problems.ts)
  subject   text not null, -- name of a sink or a workspace, <workspace>/<id> of a pigeonhole, id of an import
  holds     boolean not null, -- whether the condition was true at the last check
  since     timestamptz not null, -- since when it is true, or is not
  announced boolean not null, -- whether the last alert said that it is true
  raises    integer not null, -- how often it became true again without a longer pause
  facts     json not null, -- counts and codes only
  primary key (code, subject)
);

-- Messages to send. A row is deleted when its receiver has accepted it, or has refused it for a day.
create table alert_messages (
  number     bigint generated always as identity primary key,
  id         uuid not null, -- the same at every receiver and every attempt
  receiver   text not null,
  code       text not null,
  subject    text not null,
  kind       text not null check (kind in ('raised', 'recovered', 'happened')),
  since      timestamptz not null,
  facts      json not null,
  created_at timestamptz not null default now()
);
create index alert_messages_of_receiver on alert_messages (receiver, number);

-- The process that sends to a receiver now, and the failures of the receiver.
create table alert_receivers (
  receiver      text primary key, -- keyed fingerprint of its address
  owner         text,
  leased_until  timestamptz,
  failures      integer not null default 0,
  failing_since timestamptz,
  failure       text,
  retry_at      timestamptz,
  delivered_at  timestamptz
);

-- The latest check for alerts. If another check starts before a check has finished, the earlier one writes nothing.
create table alert_watch (
  singleton    boolean primary key default true check (singleton),
  since        timestamptz not null default now(), -- no alert is sent for anything that ended before
  check_number bigint not null default 0,
  checked_at   timestamptz not null default '-infinity'
);

-- Problems that lasted, each once, with its start and its end (decision 0118). Retention deletes ended ones after 30 days.
create table incidents (
  number      bigint generated always as identity primary key,
  code        text not null, -- of a problem (operations/problems.ts)
  kind        text not null, -- of the subject
  subject     text not null, -- as in alerts; the workspace for a problem that pigeonholes share; empty for the process
  since       timestamptz not null,
  quiet_since timestamptz, -- since when checks no longer find the problem; null: the last check found it
  ended_at    timestamptz, -- null: it lasts, or it ended too recently to be sure
  returns     integer not null default 0, -- how often it returned shortly after its end
  title       text not null, -- the sentences of the problem, built from counts, codes and instants only
  says        text,
  advice      text,
  page        text,
  noted_at    timestamptz not null -- when the sentences were written
);
create unique index incidents_open on incidents (code, kind, subject) where ended_at is null;
create index incidents_by_end on incidents (ended_at) where ended_at is not null;

-- The receivers that were notified of an incident, and when last.
create table incident_notices (
  incident bigint not null references incidents on delete cascade,
  receiver text not null, -- as in alert_receivers
  kind     text not null check (kind in ('raised', 'recovered')),
  at       timestamptz not null default now(),
  primary key (incident, receiver, kind)
);

-- Times in which reading was late or impossible, for the closing statement of an event (decision 0110).
create table interruptions (
  number        bigint generated always as identity primary key,
  workspace     text,   -- null: everything, because pigeonpost was not running
  pigeonhole_id bigint, -- null: the whole workspace
  cause         text not null check (cause in ('stopped', 'silent', 'quota', 'throttled', 'credential', 'paused', 'late')),
  since         timestamptz not null,
  until         timestamptz -- null: it lasts
);
-- Each interruption that lasts has one row, whichever process finds it.
create unique index interruptions_open on interruptions (workspace, (coalesce(pigeonhole_id, 0)), cause) where until is null;
create index interruptions_by_end on interruptions (until) where until is not null;

-- The latest check for interruptions. A long time between two checks shows that pigeonpost was not running.
create table reading_watch (
  singleton  boolean primary key default true check (singleton),
  checked_at timestamptz not null default '-infinity'
);

-- The statements about events: what the service has, what pigeonpost has, and what every sink received (decision 0110).
create table statements (
  number            integer generated always as identity primary key,
  pigeonhole_number integer not null references pigeonholes,
  occasion          text not null check (occasion in ('request', 'closing')), -- closing: made once after the end of the event
  requested_at      timestamptz not null default clock_timestamp(), -- lists must be read after this time
  ended_at          timestamptz, -- closing: the end of the event, as in pigeonholes
  audits            boolean not null default false, -- the destinations are audited first (decision 0109)
  audits_requested_at timestamptz, -- null: not yet
  audited_sinks     text[] not null default '{}', -- those whose audit was requested
  completed_at      timestamptz, -- null: it is being made
  agrees            boolean,
  open_points       integer,
  document          text, -- the signed statement, JSON
  check ((completed_at is null) = (document is null)),
  check ((occasion = 'closing') = (ended_at is not null))
);
create unique index statements_open on statements (pigeonhole_number, occasion) where completed_at is null;
create unique index statements_closing on statements (pigeonhole_number, ended_at);
