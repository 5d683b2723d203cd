-- 0002: a stream may have a poll and a sweep in progress at the same time, each with its own position. The pages of its
-- last sweep are stored, so that an unchanged page writes no row and a missing item is noticed. A walk that is in progress
-- when this migration runs starts again.

alter table streams
  alter column sweep_due_at drop not null, -- null: a sweep is in progress, and no other was requested since it started
  drop column walk, drop column walk_started_at, drop column walk_cursor, drop column walk_checkpoint,
  drop column walk_check_key, drop column walk_last_id, drop column walk_ascending, drop column walk_pages,
  drop column walk_items,
  drop constraint streams_item_order_check,
  add constraint streams_item_order_check check (item_order in ('unknown', 'ascending', 'descending', 'unordered')),
  add column clean_direction text check (clean_direction in ('ascending', 'descending')), -- the direction that clean_walks counts
  add column head_id        bigint,      -- descending lists: all items up to this id were stored when the last read from the first page ended
  add column sweeps         integer not null default 0, -- number of finished sweeps
  add column page_count     integer,     -- number of pages of the last sweep
  add column swept_from     timestamptz, -- time of the last sweep's first request
  add column differs        boolean not null default true, -- whether others than the last sweep have written rows since it started
  add column sequence_hash  bytea,       -- of the cursors and keys of the last sweep's pages
  add column sequence_since timestamptz, -- time of the first of the consecutive sweeps with this sequence_hash
  add column set_aside      integer not null default 0, -- rows of the last sweep that have nothing to identify them by
  add column gone_count     integer not null default 0, -- number of consecutive reports of the service that the stream does not exist
  add column gone_since     timestamptz, -- time of the first of these reports
  add column gone_at        timestamptz; -- when the stream started to count as gone; its items stay, and it is read only rarely

alter table pigeonholes add column gone_at timestamptz; -- when the service no longer knew it; its items stay

update streams set sweep_due_at = now() where sweep_due_at > now(); -- because earlier sweeps did not store their pages

create table walks (
  stream_id  integer not null references streams,
  kind       text not null check (kind in ('poll', 'sweep')),
  number     integer not null,     -- the number of the sweep; 0 for a poll
  started_at timestamptz not null, -- by the database's clock; a sweep requested after this time needs another walk
  first_at   timestamptz not null, -- time of its first request
  cursor     text,                 -- the page to request next; null: the first
  checkpoint text,                 -- cursor of the page at which the next poll would start if the walk ended now
  check_key  text,                 -- key of an item on that page
  direction  text check (direction in ('ascending', 'descending', 'mixed')), -- null: fewer than two items
  page_first bigint,               -- value of the first item of the latest page, to determine the order across pages
  page_last  bigint,               -- value of the last item of the latest page
  through    boolean not null,     -- true: each cycle reads as many pages as it can; false: a few pages in addition to the poll
  until_id   bigint,               -- a poll from the first page of a descending list ends at this id, up to which all items were stored
  top_id     bigint,               -- the highest id on pages whose items are all older than a minute
  differs    boolean not null,     -- whether a page differed from the same page of the previous sweep
  pages      integer not null,
  items      integer not null,
  set_aside  integer not null,
  primary key (stream_id, kind)
);

-- The pages of a stream's last sweep. A sweep in progress replaces them one by one.
create table pages (
  stream_id    integer not null references streams,
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
  primary key (stream_id, ordinal)
);

-- Items that a sweep did not find. They may have been deleted.
create table missing (
  ref       integer not null,
  list      text not null,
  key       text not null,
  stream_id integer not null references streams,
  since     timestamptz not null,       -- time of the first request of the first sweep that did not find the item
  walks     integer not null default 0, -- number of sweeps of an ascending list that showed its neighbours on one page without it
  looked_at timestamptz,                -- when it was last requested with a filter
  lacked_at timestamptz,                -- when it was proved missing in this stream; it may have moved to another session
  state     text not null default 'open' check (state in ('open', 'held', 'kept')), -- kept: an operator rejected the deletion
  hold      integer,
  primary key (ref, list, key)
);
create index missing_of_stream on missing (stream_id);

-- Deletions that wait for an operator, because they are many at the same time: more than a number and a share of a list.
create table holds (
  id         integer generated always as identity primary key,
  ref        integer not null references pigeonholes,
  list       text not null,
  found_at   timestamptz not null default now(),
  items      integer not null, -- number of missing items
  of_items   integer not null, -- number of items that the list had
  decision   text check (decision in ('confirmed', 'rejected')),
  decided_at timestamptz
);

-- Number of deletions of a list in the current hour, because many small deletions count like one large one.
create table recent_deletions (
  ref     integer not null references pigeonholes,
  list    text not null,
  since   timestamptz not null,
  items   integer not null,
  primary key (ref, list)
);
