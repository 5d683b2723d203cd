-- 0001: the ledger: what was read (items), what changed (changes), what each sink made of it (deliveries).
-- Locks: none that anyone waits for; these tables are new. Previous version: none.
--
-- Payloads are `json`, not `jsonb`: the text is kept as it came (an escaped NUL, which jsonb refuses, included), and
-- writing it is cheaper. Nothing in SQL looks inside a payload; what a query needs stands in a column.

-- One row: who this ledger is, the keys of its hashes, and the Temporal that may drive it.
create table ledger (
  singleton       boolean primary key default true check (singleton),
  id              uuid not null,
  hash_key        bytea not null, -- content hashes, ids of changes, keys of rows without ids
  subject_key     bytea not null, -- whom a row is about
  fingerprint_key bytea not null, -- secrets in configuration rows
  cluster_id      text,           -- null until a Temporal has driven this ledger
  namespace       text,
  created_at      timestamptz not null default now()
);

-- Every configuration that was current, secrets as keyed fingerprints. The highest number is the current one.
create table configurations (
  number     integer primary key,
  document   json not null,
  digest     text not null,
  applied_at timestamptz not null default now()
);

-- A workspace waits as a whole: for its quota, a throttle, or another key.
create table workspaces (
  name            text primary key,
  wait_until      timestamptz,
  wait_reason     text check (wait_reason in ('quota', 'throttled', 'credential')),
  wait_count      integer not null default 0, -- in a row; a success sets it to 0
  discovered_at   timestamptz, -- its pigeonholes were chosen from for the first time
  quota_limit     integer,
  quota_remaining integer,
  quota_reset_at  timestamptz
);

-- One row per pigeonhole that was ever selected; id 0 stands for the lists of the workspace itself.
-- next_sequence is taken under this row's lock, held until commit: commit order is sequence order.
create table pigeonholes (
  ref           integer generated always as identity primary key,
  workspace     text not null,
  pigeonhole_id bigint not null,
  status        text, -- as the service last said
  next_sequence bigint not null default 1,
  created_at    timestamptz not null default now(),
  unique (workspace, pigeonhole_id)
);

-- Which syncs read which pigeonholes. Discovery only adds.
create table selections (
  sync        text not null,
  ref         integer not null references pigeonholes,
  selected_at timestamptz not null default now(),
  primary key (sync, ref)
);

-- Stopped by a person or by a cause; each lifts its own. A credential's pause ends with another fingerprint.
create table pauses (
  scope       text not null check (scope in ('workspace', 'pigeonhole', 'sink')),
  name        text not null,
  paused_by   text not null check (paused_by in ('person', 'cause')),
  cause       text not null,
  detail      text not null,
  fingerprint text,
  since       timestamptz not null default now(),
  primary key (scope, name, paused_by)
);

-- What is read as one: a list of a pigeonhole, or of one of its sessions (session_id 0: no session).
create table streams (
  id               integer generated always as identity primary key,
  ref              integer not null references pigeonholes,
  list             text not null,
  session_id       bigint not null default 0,
  wanted           boolean not null default true,
  -- the right to read: an attempt takes the next epoch, and a commit under an older one is refused
  owner            text,
  epoch            bigint not null default 0,
  -- the order of the list, as observed; unknown until a first walk has ended
  item_order       text not null default 'unknown' check (item_order in ('unknown', 'ascending', 'unordered')),
  clean_walks      integer not null default 0, -- in a row, in ascending order
  promote_at       integer not null default 1, -- that many clean walks make it ascending; more after a demotion
  highest_id       bigint, -- of all items it ever stored; what is above cannot be known. Null: none, or no ids
  -- the walk under way; walk null: none
  walk             text check (walk in ('poll', 'sweep')),
  walk_started_at  timestamptz,
  walk_cursor      text,    -- the page to request next; null: the first
  walk_checkpoint  text,    -- where the next poll would start, were the walk to end here
  walk_check_key   text,    -- a key that stood on that page
  walk_last_id     bigint,  -- the highest id so far, to judge the order across pages
  walk_ascending   boolean not null default true,
  walk_pages       integer not null default 0,
  walk_items       integer not null default 0,
  -- where the next poll starts; only where the order is ascending
  checkpoint       text,
  checkpoint_key   text,
  per_page         integer, -- another page size moves the pages: the checkpoint is then worth nothing
  -- when
  due_at           timestamptz not null default now(),
  sweep_due_at     timestamptz not null default now(),
  polled_at        timestamptz, -- end of the last walk of either kind
  swept_at         timestamptz, -- end of the last whole walk
  item_count       integer,     -- at that end
  failures         integer not null default 0,
  failure          text,
  unique (ref, list, session_id)
);
create index streams_due on streams (ref, due_at) where wanted;

create table items (
  ref            integer not null,
  list           text not null,
  key            text not null,
  session_id     bigint,
  stream_id      integer not null,
  revision       integer not null,
  content_hash   bytea not null, -- HMAC; decides that an item changed
  copies_hash    bytea,          -- of texts copied from other items; no change of their own
  payload        json,           -- canonical; null: deleted
  rules          text not null,  -- under which it was read; what they alone make different is no change
  -- lists of interactions: may the person be shown? `unknown` counts as anonymous; null: not a matter of this list
  visibility     text check (visibility in ('named', 'anonymous', 'unknown')),
  attendee_id    bigint,         -- whose; null where anonymous
  subject        bytea,          -- HMAC of whose; of another purpose where anonymous, so that no join meets
  says_anonymous boolean,        -- sessions: anonymousResponses; lists with a flag: that flag
  consent        text check (consent in ('obtained', 'refused', 'not-asked', 'not-known')), -- attendees
  seen_at        timestamptz not null, -- instant of the request that last changed this row
  last_sequence  bigint not null,
  primary key (ref, list, key)
);
-- What a change of a session's or a question's anonymity concerns.
create index items_by_session on items (ref, session_id, list, key) where visibility is not null;

create table changes (
  ref               integer not null,
  sequence          bigint not null,
  id                uuid not null,
  list              text not null,
  key               text not null,
  revision          integer not null,
  kind              text not null check (kind in ('created', 'updated', 'deleted')),
  session_id        bigint,
  visibility        text check (visibility in ('named', 'anonymous')), -- as judged then; sending only tightens it
  found_at          timestamptz not null,
  previous_sequence bigint, -- the item's change before; null: none
  snapshot          json,   -- null while the item itself still stands as this change found it, and for deletions
  primary key (ref, sequence)
);
create index changes_with_snapshot on changes (ref, list, key) where snapshot is not null;

-- Items whose visibility a committed change of their session has put in question, too many for that transaction.
create table visibility_reviews (
  ref        integer not null,
  session_id bigint not null,
  after_list text not null,
  after_key  text not null,
  primary key (ref, session_id)
);

create table sinks (
  id          integer generated always as identity primary key,
  name        text not null unique,
  type        text not null,
  wake        boolean not null default false, -- its rise sends a signal; the sink's turn lowers it first
  created_at  timestamptz not null default now(),
  archived_at timestamptz
);

-- A sink's work in one pigeonhole.
create table lanes (
  sink_id          integer not null references sinks,
  ref              integer not null references pigeonholes,
  owner            text, -- null: released in order, nothing in flight
  epoch            bigint not null default 0,
  lease_expires_at timestamptz,
  history_until    bigint not null, -- up to here only each item's last change is delivered
  watermark        bigint not null default 0,
  configuration    integer,          -- under which it was last sent on; null: never
  lists            text not null default '', -- what the sink wanted under it, separated by spaces
  memory           json not null default '{}',
  due_at           timestamptz, -- when the earliest of its open deliveries is due; null: none
  retry_at         timestamptz, -- nothing passes: not before then
  failing_since    timestamptz,
  failure          text,
  delivered        bigint not null default 0,
  delivered_at     timestamptz,
  primary key (sink_id, ref)
);

-- What became of a change at a sink, one row each. A change at or below the watermark without a row was of no interest.
create table deliveries (
  sink_id       integer not null,
  ref           integer not null,
  sequence      bigint not null,
  list          text not null,
  key           text not null,
  revision      integer not null,
  state         text not null check (state in ('waiting', 'sending', 'retry', 'delivered', 'withheld', 'superseded', 'dead')),
  reason        text, -- withheld: why; dead: the cause that groups it
  detail        text, -- what the destination answered, in a sentence without data
  attempts      integer not null default 0,
  due_at        timestamptz,
  identity      boolean, -- sent with the person's identity; later attempts may only take it away
  configuration integer not null,
  updated_at    timestamptz not null default now(),
  primary key (sink_id, ref, sequence)
);
create index deliveries_open on deliveries (sink_id, ref, list, key, sequence)
  where state in ('waiting', 'sending', 'retry');
create index deliveries_parked on deliveries (sink_id, ref, list, state, reason) where state in ('withheld', 'dead');
