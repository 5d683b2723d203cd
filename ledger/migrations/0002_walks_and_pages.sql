-- A stream may have a poll and a sweep under way at once, each with where it stands; the pages of its last sweep are
-- known, so that a page without change costs no row and a missing item shows. A walk under way begins anew.

alter table streams
  alter column sweep_due_at drop not null, -- null: one is under way, and none was asked for since it began
  drop column walk, drop column walk_started_at, drop column walk_cursor, drop column walk_checkpoint,
  drop column walk_check_key, drop column walk_last_id, drop column walk_ascending, drop column walk_pages,
  drop column walk_items,
  drop constraint streams_item_order_check,
  add constraint streams_item_order_check check (item_order in ('unknown', 'ascending', 'descending', 'unordered')),
  add column clean_direction text check (clean_direction in ('ascending', 'descending')), -- that clean_walks count
  add column head_id        bigint,      -- descending: up to here all was stored when the last read from the head ended
  add column sweeps         integer not null default 0, -- ended so far: the number of the last one
  add column page_count     integer,     -- of the last sweep
  add column swept_from     timestamptz, -- instant of its first request
  add column differs        boolean not null default true, -- rows were written since it began, other than its own
  add column sequence_hash  bytea,       -- of its pages' cursors and keys
  add column sequence_since timestamptz, -- instant of the first sweep in a row that showed this sequence
  add column set_aside      integer not null default 0, -- rows without any identity that it showed
  add column gone_count     integer not null default 0, -- times in a row that the service said it does not exist
  add column gone_since     timestamptz, -- the first of these
  add column gone_at        timestamptz; -- counted as gone: its items are kept, it is asked for rarely

alter table pigeonholes add column gone_at timestamptz; -- the service no longer knows it; its items are kept

update streams set sweep_due_at = now() where sweep_due_at > now(); -- the pages of a sweep were not kept before

create table walks (
  stream_id  integer not null references streams,
  kind       text not null check (kind in ('poll', 'sweep')),
  number     integer not null,     -- a sweep's; 0 for a poll
  started_at timestamptz not null, -- by the database's clock: what is asked for later, this walk may have passed
  first_at   timestamptz not null, -- instant of its first request
  cursor     text,                 -- the page to request next; null: the first
  checkpoint text,                 -- where the next poll would start, were the walk to end here
  check_key  text,                 -- a key that stood on that page
  direction  text check (direction in ('ascending', 'descending', 'mixed')), -- null: fewer than two items
  page_first bigint,               -- value of the first item of the last page, to judge the order across pages
  page_last  bigint,               -- and of its last
  through    boolean not null,     -- a sweep that was due: read on at every turn, and not a few pages beside each poll
  until_id   bigint,               -- a read from the head ends where all was stored when it began
  top_id     bigint,               -- the highest id that it saw on pages older than a minute
  differs    boolean not null,     -- a page was not the one that the sweep before saw
  pages      integer not null,
  items      integer not null,
  set_aside  integer not null,
  primary key (stream_id, kind)
);

-- The pages of a stream's last sweep, and those that the one under way has replaced.
create table pages (
  stream_id    integer not null references streams,
  ordinal      integer not null, -- from 0
  cursor       text,             -- that it was asked for with; null: the first
  digest       bytea,            -- HMAC of request and body; equal: its rows are as stored. Null: to be compared
  keys         text[] not null,  -- what counts as seen
  first_value  bigint,           -- of its items' ids, or times where the list has no ids
  last_value   bigint,
  low          bigint,
  high         bigint,
  direction    text check (direction in ('ascending', 'descending', 'mixed')),
  newest_at    bigint,           -- when its newest item came to be, epoch ms
  set_aside    integer not null,
  primary key (stream_id, ordinal)
);

-- Items that a sweep lacked: candidates for a deletion.
create table missing (
  ref       integer not null,
  list      text not null,
  key       text not null,
  stream_id integer not null references streams,
  since     timestamptz not null,       -- instant of the first request of the first sweep that lacked it
  walks     integer not null default 0, -- sweeps that lacked it between its neighbours on one page of an ascending list
  looked_at timestamptz,                -- when it was last asked for by a filter
  lacked_at timestamptz,                -- proved to be missing here; whether it moved to another session is open
  state     text not null default 'open' check (state in ('open', 'held', 'kept')), -- kept: a person said so
  hold      integer,
  primary key (ref, list, key)
);
create index missing_of_stream on missing (stream_id);

-- Deletions that wait for a person: more than a share and a number of a list's items at once.
create table holds (
  id         integer generated always as identity primary key,
  ref        integer not null references pigeonholes,
  list       text not null,
  found_at   timestamptz not null default now(),
  items      integer not null, -- that are missing
  of_items   integer not null, -- that the list had
  decision   text check (decision in ('confirmed', 'rejected')),
  decided_at timestamptz
);

-- Deletions of a list in the present hour: many small ones are one big one.
create table recent_deletions (
  ref     integer not null references pigeonholes,
  list    text not null,
  since   timestamptz not null,
  items   integer not null,
  primary key (ref, list)
);
