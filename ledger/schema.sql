-- What all migrations together make: to be read, never run. A test compares it; UPDATE_SCHEMA=1 writes it anew.

create table changes (
  ref integer not null,
  sequence bigint not null,
  id uuid not null,
  list text not null,
  key text not null,
  revision integer not null,
  kind text not null,
  session_id bigint,
  visibility text,
  found_at timestamp with time zone not null,
  previous_sequence bigint,
  snapshot json,
  PRIMARY KEY (ref, sequence),
  CHECK ((kind = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text]))),
  CHECK ((visibility = ANY (ARRAY['named'::text, 'anonymous'::text])))
);

create table configurations (
  number integer not null,
  document json not null,
  digest text not null,
  applied_at timestamp with time zone not null default now(),
  PRIMARY KEY (number)
);

create table deliveries (
  sink_id integer not null,
  ref integer not null,
  sequence bigint not null,
  list text not null,
  key text not null,
  revision integer not null,
  state text not null,
  reason text,
  detail text,
  attempts integer not null default 0,
  due_at timestamp with time zone,
  identity boolean,
  configuration integer not null,
  updated_at timestamp with time zone not null default now(),
  PRIMARY KEY (sink_id, ref, sequence),
  CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'retry'::text, 'delivered'::text, 'withheld'::text, 'superseded'::text, 'dead'::text])))
);

create table items (
  ref integer not null,
  list text not null,
  key text not null,
  session_id bigint,
  stream_id integer not null,
  revision integer not null,
  content_hash bytea not null,
  copies_hash bytea,
  payload json,
  rules text not null,
  visibility text,
  attendee_id bigint,
  subject bytea,
  says_anonymous boolean,
  consent text,
  seen_at timestamp with time zone not null,
  last_sequence bigint not null,
  PRIMARY KEY (ref, list, key),
  CHECK ((consent = ANY (ARRAY['obtained'::text, 'refused'::text, 'not-asked'::text, 'not-known'::text]))),
  CHECK ((visibility = ANY (ARRAY['named'::text, 'anonymous'::text, 'unknown'::text])))
);

create table lanes (
  sink_id integer not null,
  ref integer not null,
  owner text,
  epoch bigint not null default 0,
  lease_expires_at timestamp with time zone,
  history_until bigint not null,
  watermark bigint not null default 0,
  configuration integer,
  lists text not null default ''::text,
  memory json not null default '{}'::json,
  due_at timestamp with time zone,
  retry_at timestamp with time zone,
  failing_since timestamp with time zone,
  failure text,
  delivered bigint not null default 0,
  delivered_at timestamp with time zone,
  PRIMARY KEY (sink_id, ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  FOREIGN KEY (sink_id) REFERENCES sinks(id)
);

create table ledger (
  singleton boolean not null default true,
  id uuid not null,
  hash_key bytea not null,
  subject_key bytea not null,
  fingerprint_key bytea not null,
  cluster_id text,
  namespace text,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (singleton),
  CHECK (singleton)
);

create table migrations (
  number integer not null,
  applied_at timestamp with time zone not null default now(),
  PRIMARY KEY (number)
);

create table pauses (
  scope text not null,
  name text not null,
  paused_by text not null,
  cause text not null,
  detail text not null,
  fingerprint text,
  since timestamp with time zone not null default now(),
  PRIMARY KEY (scope, name, paused_by),
  CHECK ((paused_by = ANY (ARRAY['person'::text, 'cause'::text]))),
  CHECK ((scope = ANY (ARRAY['workspace'::text, 'pigeonhole'::text, 'sink'::text])))
);

create table pigeonholes (
  ref integer not null generated always as identity,
  workspace text not null,
  pigeonhole_id bigint not null,
  status text,
  next_sequence bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  UNIQUE (workspace, pigeonhole_id),
  PRIMARY KEY (ref)
);

create table quotas (
  fingerprint text not null,
  request_limit integer,
  limit_until timestamp with time zone,
  window_number integer not null default 1,
  window_whole boolean not null default false,
  window_from timestamp with time zone not null default now(),
  window_ms bigint not null default 86400000,
  reset_at timestamp with time zone,
  used integer not null default 0,
  used_imports integer not null default 0,
  used_idle integer not null default 0,
  used_sweeps integer not null default 0,
  unsure integer not null default 0,
  remaining integer,
  refusals integer not null default 0,
  refused_window integer,
  wait_until timestamp with time zone,
  alone_until timestamp with time zone,
  PRIMARY KEY (fingerprint)
);

create table selections (
  sync text not null,
  ref integer not null,
  selected_at timestamp with time zone not null default now(),
  PRIMARY KEY (sync, ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table sinks (
  id integer not null generated always as identity,
  name text not null,
  type text not null,
  wake boolean not null default false,
  created_at timestamp with time zone not null default now(),
  archived_at timestamp with time zone,
  UNIQUE (name),
  PRIMARY KEY (id)
);

create table streams (
  id integer not null generated always as identity,
  ref integer not null,
  list text not null,
  session_id bigint not null default 0,
  wanted boolean not null default true,
  owner text,
  epoch bigint not null default 0,
  item_order text not null default 'unknown'::text,
  clean_walks integer not null default 0,
  promote_at integer not null default 1,
  highest_id bigint,
  walk text,
  walk_started_at timestamp with time zone,
  walk_cursor text,
  walk_checkpoint text,
  walk_check_key text,
  walk_last_id bigint,
  walk_ascending boolean not null default true,
  walk_pages integer not null default 0,
  walk_items integer not null default 0,
  checkpoint text,
  checkpoint_key text,
  per_page integer,
  due_at timestamp with time zone not null default now(),
  sweep_due_at timestamp with time zone not null default now(),
  polled_at timestamp with time zone,
  swept_at timestamp with time zone,
  item_count integer,
  failures integer not null default 0,
  failure text,
  changed_at timestamp with time zone,
  quiet_reads integer not null default 0,
  UNIQUE (ref, list, session_id),
  PRIMARY KEY (id),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  CHECK ((item_order = ANY (ARRAY['unknown'::text, 'ascending'::text, 'unordered'::text]))),
  CHECK ((walk = ANY (ARRAY['poll'::text, 'sweep'::text])))
);

create table visibility_reviews (
  ref integer not null,
  session_id bigint not null,
  after_list text not null,
  after_key text not null,
  PRIMARY KEY (ref, session_id)
);

create table workspaces (
  name text not null,
  wait_until timestamp with time zone,
  wait_reason text,
  wait_count integer not null default 0,
  discovered_at timestamp with time zone,
  PRIMARY KEY (name),
  CHECK ((wait_reason = ANY (ARRAY['quota'::text, 'throttled'::text, 'credential'::text])))
);

CREATE INDEX changes_with_snapshot ON changes USING btree (ref, list, key) WHERE (snapshot IS NOT NULL);
CREATE INDEX deliveries_open ON deliveries USING btree (sink_id, ref, list, key, sequence) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text, 'retry'::text]));
CREATE INDEX deliveries_parked ON deliveries USING btree (sink_id, ref, list, state, reason) WHERE (state = ANY (ARRAY['withheld'::text, 'dead'::text]));
CREATE INDEX items_by_session ON items USING btree (ref, session_id, list, key) WHERE (visibility IS NOT NULL);
CREATE INDEX streams_due ON streams USING btree (ref, due_at) WHERE wanted;
