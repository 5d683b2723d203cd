-- 0001: the ledger: the items that were read, their changes, and the deliveries of the changes to each sink.
-- Locks: none that anyone waits for; these tables are new. Previous version: none.
--
-- Payloads are `json` and not `jsonb`: the text is stored as it was received (including an escaped NUL, which jsonb
-- refuses), and writing it is cheaper. No statement reads members of a payload; values that queries need have columns.

-- One row: the id of this ledger, the keys of its hashes, and the Temporal cluster that may drive it.
create table ledger (
  singleton       boolean primary key default true check (singleton),
  id              uuid not null,
  hash_key        bytea not null, -- for content hashes, ids of changes, and keys of rows without ids
  subject_key     bytea not null, -- for hashes of the people that rows are about
  fingerprint_key bytea not null, -- for fingerprints of secrets in stored configurations
  cluster_id      text,           -- null until a Temporal cluster has driven this ledger
  namespace       text,
  created_at      timestamptz not null default now()
);

-- Every configuration that was ever current, with keyed fingerprints in place of secrets. The highest number is the current
-- one.
create table configurations (
  number     integer primary key,
  document   json not null,
  digest     text not null,
  applied_at timestamptz not null default now()
);

-- One row per workspace. All requests of a workspace wait together: for its quota, after throttling, or for another API key.
create table workspaces (
  name            text primary key,
  wait_until      timestamptz,
  wait_reason     text check (wait_reason in ('quota', 'throttled', 'credential')),
  wait_count      integer not null default 0, -- number of waits in a row; a successful request sets it to 0
  discovered_at   timestamptz, -- when syncs selected from its pigeonholes for the first time
  quota_limit     integer,
  quota_remaining integer,
  quota_reset_at  timestamptz
);

-- One row per pigeonhole that was ever selected; id 0 is for the lists of the workspace itself. Sequences are assigned from
-- next_sequence under this row's lock, which lasts until commit, so transactions commit in the order of their sequences.
create table pigeonholes (
  ref           integer generated always as identity primary key,
  workspace     text not null,
  pigeonhole_id bigint not null,
  status        text, -- as the service last reported it
  next_sequence bigint not null default 1,
  created_at    timestamptz not null default now(),
  unique (workspace, pigeonhole_id)
);

-- The pigeonholes that each sync reads. Discovery adds rows and removes none.
create table selections (
  sync        text not null,
  ref         integer not null references pigeonholes,
  selected_at timestamptz not null default now(),
  primary key (sync, ref)
);

-- Pauses by an operator (person) or by a problem (cause). Each is lifted separately. A pause because of a rejected
-- credential ends when the credential's fingerprint changes.
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

-- A list of a pigeonhole or of one of its sessions, which is read separately from others. session_id 0: of the pigeonhole.
create table streams (
  id               integer generated always as identity primary key,
  ref              integer not null references pigeonholes,
  list             text not null,
  session_id       bigint not null default 0,
  wanted           boolean not null default true,
  -- the lease of the reader: each attempt increases the epoch, and a commit under an older epoch is refused
  owner            text,
  epoch            bigint not null default 0,
  -- the order of the list, as observed; unknown until the first walk has finished
  item_order       text not null default 'unknown' check (item_order in ('unknown', 'ascending', 'unordered')),
  clean_walks      integer not null default 0, -- number of consecutive walks in ascending order
  promote_at       integer not null default 1, -- number of clean walks after which the order counts as ascending; higher after a contradiction
  highest_id       bigint, -- of all items ever stored; higher ids are new. Null: no items, or no ids
  -- the walk in progress; walk null: none
  walk             text check (walk in ('poll', 'sweep')),
  walk_started_at  timestamptz,
  walk_cursor      text,    -- the page to request next; null: the first
  walk_checkpoint  text,    -- cursor of the page at which the next poll would start if the walk ended now
  walk_check_key   text,    -- key of an item on that page
  walk_last_id     bigint,  -- the highest id so far, to determine the order across pages
  walk_ascending   boolean not null default true,
  walk_pages       integer not null default 0,
  walk_items       integer not null default 0,
  -- where the next poll starts; only if the order is ascending
  checkpoint       text,
  checkpoint_key   text,
  per_page         integer, -- items per page; with another number the checkpoint is useless, because items move to other pages
  -- schedule
  due_at           timestamptz not null default now(),
  sweep_due_at     timestamptz not null default now(),
  polled_at        timestamptz, -- end of the last walk, whether poll or sweep
  swept_at         timestamptz, -- end of the last sweep
  item_count       integer,     -- number of items at that time
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
  content_hash   bytea not null, -- HMAC; a different hash means that the item changed
  copies_hash    bytea,          -- HMAC of texts copied from other items; a difference is no change of this item
  payload        json,           -- canonical JSON; null: deleted
  rules          text not null,  -- the reading rules; a difference that only the rules cause is no change
  -- whether sinks may see who created the item; `unknown` counts as anonymous; null: the list shows nobody
  visibility     text check (visibility in ('named', 'anonymous', 'unknown')),
  attendee_id    bigint,         -- the attendee who created the item; null if anonymous
  subject        bytea,          -- HMAC of the attendee; under another key if anonymous, so that no join finds the person's other rows
  says_anonymous boolean,        -- sessions: anonymousResponses; lists with an anonymity flag: the flag
  consent        text check (consent in ('obtained', 'refused', 'not-asked', 'not-known')), -- only for attendees
  seen_at        timestamptz not null, -- time of the request that last changed this row
  last_sequence  bigint not null,
  primary key (ref, list, key)
);
-- Finds the items whose visibility may change together with their session.
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
  visibility        text check (visibility in ('named', 'anonymous')), -- as determined at that time; delivery may only change it to anonymous
  found_at          timestamptz not null,
  previous_sequence bigint, -- the item's previous change; null: none
  snapshot          json,   -- the payload after this change; null while `items` still has it, and for deletions
  primary key (ref, sequence)
);
create index changes_with_snapshot on changes (ref, list, key) where snapshot is not null;

-- Sessions whose items must get a new visibility after a change of the session, if they were too many for its transaction.
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
  wake        boolean not null default false, -- setting it sends a signal to the sink's workflow, which clears it before it reads changes
  created_at  timestamptz not null default now(),
  archived_at timestamptz
);

-- A sink's queue for one pigeonhole.
create table lanes (
  sink_id          integer not null references sinks,
  ref              integer not null references pigeonholes,
  owner            text, -- null: the lane was released, and nothing is in flight
  epoch            bigint not null default 0,
  lease_expires_at timestamptz,
  history_until    bigint not null, -- up to this sequence, only the last change of each item is delivered
  watermark        bigint not null default 0,
  configuration    integer,          -- the configuration under which the lane last sent; null: it never sent
  lists            text not null default '', -- the lists that the sink received under it, separated by spaces
  memory           json not null default '{}',
  due_at           timestamptz, -- when the earliest open delivery is due; null: there is none
  retry_at         timestamptz, -- after a failure: nothing is sent before this time
  failing_since    timestamptz,
  failure          text,
  delivered        bigint not null default 0,
  delivered_at     timestamptz,
  primary key (sink_id, ref)
);

-- The state of each change at each sink. A change at or below the watermark that has no row was not for the sink.
create table deliveries (
  sink_id       integer not null,
  ref           integer not null,
  sequence      bigint not null,
  list          text not null,
  key           text not null,
  revision      integer not null,
  state         text not null check (state in ('waiting', 'sending', 'retry', 'delivered', 'withheld', 'superseded', 'dead')),
  reason        text, -- withheld: the reason; dead: the cause that groups dead letters
  detail        text, -- the destination's answer, in a sentence without personal data
  attempts      integer not null default 0,
  due_at        timestamptz,
  identity      boolean, -- whether the person's identity was sent; later attempts may only hide it
  configuration integer not null,
  updated_at    timestamptz not null default now(),
  primary key (sink_id, ref, sequence)
);
create index deliveries_open on deliveries (sink_id, ref, list, key, sequence)
  where state in ('waiting', 'sending', 'retry');
create index deliveries_parked on deliveries (sink_id, ref, list, state, reason) where state in ('withheld', 'dead');
