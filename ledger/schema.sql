-- The schema after all migrations, for reading; it is never run. Comments on the columns are in migrations/.
-- A test compares this file with the migrations; UPDATE_SCHEMA=1 rewrites it.

create table alert_messages (
  number bigint not null generated always as identity,
  id uuid not null,
  receiver text not null,
  occasion text not null,
  subject text not null,
  kind text not null,
  since timestamp with time zone not null,
  facts json not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (number),
  CHECK ((kind = ANY (ARRAY['raised'::text, 'recovered'::text, 'happened'::text])))
);

create table alert_receivers (
  receiver text not null,
  owner text,
  leased_until timestamp with time zone,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  failure text,
  retry_at timestamp with time zone,
  delivered_at timestamp with time zone,
  PRIMARY KEY (receiver)
);

create table alert_watch (
  singleton boolean not null default true,
  since timestamp with time zone not null default now(),
  look bigint not null default 0,
  looked_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  PRIMARY KEY (singleton),
  CHECK (singleton)
);

create table alerts (
  occasion text not null,
  subject text not null,
  holds boolean not null,
  since timestamp with time zone not null,
  told boolean not null,
  raises integer not null,
  facts json not null,
  PRIMARY KEY (occasion, subject)
);

create table approvals (
  sink_id integer not null,
  destination text not null,
  approved_by text,
  reason text,
  since timestamp with time zone not null default now(),
  PRIMARY KEY (sink_id),
  FOREIGN KEY (sink_id) REFERENCES sinks(id)
);

create table audit (
  number bigint not null generated always as identity,
  at timestamp with time zone not null default clock_timestamp(),
  asked bigint,
  who text,
  token text,
  action text,
  target text,
  detail json,
  subject bytea,
  request_id text not null,
  outcome text,
  status integer,
  PRIMARY KEY (number),
  FOREIGN KEY (asked) REFERENCES audit(number),
  CHECK (((asked IS NULL) = (action IS NOT NULL))),
  CHECK (((asked IS NULL) = (outcome IS NULL))),
  CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'failed'::text])))
);

create table begun_batches (
  sink_id integer not null,
  ref integer not null,
  reached bigint not null,
  configuration integer not null,
  begun_at timestamp with time zone not null default now(),
  sequences bigint[] not null,
  identities boolean[] not null,
  others json not null,
  PRIMARY KEY (sink_id, ref),
  FOREIGN KEY (sink_id, ref) REFERENCES lanes(sink_id, ref)
);

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
  request_id text,
  read_as text,
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
  replay integer not null default 0,
  redriven boolean,
  PRIMARY KEY (sink_id, ref, sequence, replay),
  CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'retry'::text, 'delivered'::text, 'withheld'::text, 'superseded'::text, 'dead'::text])))
);

create table delivery_counts (
  sink_id integer not null,
  ref integer not null,
  list text not null,
  state text not null,
  reason text not null,
  changes bigint not null,
  PRIMARY KEY (sink_id, ref, list, state, reason),
  CHECK ((state = ANY (ARRAY['delivered'::text, 'withheld'::text, 'dead'::text])))
);

create table dropped_files (
  ref integer not null,
  content_hash bytea not null,
  terms_hash bytea not null,
  import uuid not null,
  state text not null,
  problem text,
  owner text not null,
  claimed_until timestamp with time zone not null,
  claims integer not null default 0,
  PRIMARY KEY (ref, content_hash),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  CHECK ((state = ANY (ARRAY['claimed'::text, 'importing'::text, 'reported'::text, 'unusable'::text])))
);

create table engagement_counts (
  ref integer not null,
  position bigint not null default 0,
  rule integer not null,
  pass_due_at timestamp with time zone,
  pass_began_at timestamp with time zone,
  after_attendee bigint,
  PRIMARY KEY (ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table engagement_prompts (
  ref integer not null,
  session_id bigint not null,
  prompt text not null,
  PRIMARY KEY (ref, session_id, prompt),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table erasing (
  sink_id integer not null,
  ref integer not null,
  list text not null,
  key text not null,
  sequence bigint not null,
  erasure integer not null,
  PRIMARY KEY (sink_id, ref, list, key),
  FOREIGN KEY (erasure) REFERENCES erasures(number)
);

create table erasure_receipts (
  erasure integer not null,
  place text not null,
  count integer not null,
  outcome text not null,
  detail text,
  todo text,
  at timestamp with time zone not null default clock_timestamp(),
  PRIMARY KEY (erasure, place),
  FOREIGN KEY (erasure) REFERENCES erasures(number),
  CHECK ((outcome = ANY (ARRAY['erased'::text, 'told'::text, 'nothing'::text, 'waiting'::text, 'by-hand'::text])))
);

create table erasures (
  number integer not null generated always as identity,
  id uuid not null,
  asked_hash bytea not null,
  names json,
  requested_by text,
  reason text,
  requested_at timestamp with time zone not null default now(),
  cleared_at timestamp with time zone,
  ended_at timestamp with time zone,
  UNIQUE (id),
  PRIMARY KEY (number)
);

create table forgotten (
  workspace text not null,
  subject bytea not null,
  erasure integer not null,
  PRIMARY KEY (workspace, subject),
  FOREIGN KEY (erasure) REFERENCES erasures(number)
);

create table forgotten_codes (
  ref integer not null,
  code_hash bytea not null,
  erasure integer not null,
  PRIMARY KEY (ref, code_hash),
  FOREIGN KEY (erasure) REFERENCES erasures(number),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table holds (
  id bigint not null generated always as identity,
  ref integer not null,
  list text not null,
  found_at timestamp with time zone not null default now(),
  items integer not null,
  of_items integer not null,
  decision text,
  decided_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  CHECK ((decision = ANY (ARRAY['confirmed'::text, 'rejected'::text])))
);

create table import_chunks (
  import integer not null,
  round integer not null,
  first_row integer not null,
  last_row integer not null,
  state text not null,
  row_count integer not null,
  sent text not null default 'never'::text,
  origin integer,
  suspects integer,
  next_count integer,
  fruitful boolean not null default false,
  unknowns integer not null default 0,
  sent_count integer,
  request integer,
  request_id text,
  due_at timestamp with time zone not null default now(),
  PRIMARY KEY (import, round, first_row),
  CHECK ((sent = ANY (ARRAY['never'::text, 'refused'::text, 'unknown'::text]))),
  CHECK ((state = ANY (ARRAY['open'::text, 'sending'::text, 'created'::text])))
);

create table import_mappings (
  name text not null,
  columns json not null,
  saved_at timestamp with time zone not null default now(),
  saved_by text,
  PRIMARY KEY (name)
);

create table import_rows (
  import integer not null,
  row_number integer not null,
  code_hash bytea,
  data_hash bytea,
  profile json not null,
  outcome text not null,
  field text,
  message text,
  request_id text,
  problems json,
  PRIMARY KEY (import, row_number),
  CHECK ((outcome = ANY (ARRAY['waiting'::text, 'created'::text, 'confirmed'::text, 'existing'::text, 'conflict'::text, 'rejected'::text, 'unknown'::text, 'cancelled'::text, 'invalid'::text])))
);

create table imports (
  number integer not null generated always as identity,
  id uuid not null,
  ref integer not null,
  file text not null,
  mapping json not null,
  requested_by text,
  canary integer,
  state text not null default 'staging'::text,
  created_at timestamp with time zone not null default now(),
  touched_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  cancel_asked_at timestamp with time zone,
  cancel_asked_by text,
  rows_claimed integer not null default 0,
  last_row integer not null default 0,
  rows_other integer not null default 0,
  owner text,
  epoch bigint not null default 0,
  round integer not null default 0,
  position integer not null default 0,
  begun integer not null default 0,
  request_number integer not null default 0,
  requests integer not null default 0,
  chunk_size integer not null,
  passed integer not null default 0,
  failures integer not null default 0,
  failure text,
  retry_at timestamp with time zone,
  requested_token text,
  erasures integer not null default 0,
  UNIQUE (id),
  PRIMARY KEY (number),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  CHECK ((state = ANY (ARRAY['staging'::text, 'running'::text, 'done'::text, 'cancelled'::text])))
);

create table items (
  ref integer not null,
  list text not null,
  key text not null,
  session_id bigint,
  stream_id bigint not null,
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
  erased boolean not null default false,
  expired boolean not null default false,
  origin bytea,
  PRIMARY KEY (ref, list, key),
  CHECK ((consent = ANY (ARRAY['obtained'::text, 'refused'::text, 'not-asked'::text, 'not-known'::text]))),
  CHECK ((visibility = ANY (ARRAY['named'::text, 'anonymous'::text, 'unknown'::text])))
);

create table kept_credentials (
  name text not null,
  version bigint not null default 0,
  sealed bytea,
  claimed_by uuid,
  claimed_until timestamp with time zone,
  updated_at timestamp with time zone not null default now(),
  PRIMARY KEY (name)
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
  history_since timestamp with time zone,
  observed bigint,
  observed_configuration integer,
  settings text,
  recent text not null default '{}'::text,
  filling_at timestamp with time zone default now(),
  PRIMARY KEY (sink_id, ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  FOREIGN KEY (sink_id) REFERENCES sinks(id)
);

create table ledger (
  singleton boolean not null default true,
  id uuid not null,
  hash_key bytea,
  subject_key bytea,
  fingerprint_key bytea,
  cluster_id text,
  namespace text,
  created_at timestamp with time zone not null default now(),
  key_check bytea,
  PRIMARY KEY (singleton),
  CHECK (singleton)
);

create table migrations (
  number integer not null,
  applied_at timestamp with time zone not null default now(),
  PRIMARY KEY (number)
);

create table missing (
  ref integer not null,
  list text not null,
  key text not null,
  stream_id bigint not null,
  since timestamp with time zone not null,
  walks integer not null default 0,
  looked_at timestamp with time zone,
  lacked_at timestamp with time zone,
  state text not null default 'open'::text,
  hold bigint,
  confirm_at timestamp with time zone,
  evident_at timestamp with time zone not null default now(),
  steady_walks integer not null default 0,
  PRIMARY KEY (ref, list, key),
  FOREIGN KEY (stream_id) REFERENCES streams(id),
  CHECK ((state = ANY (ARRAY['open'::text, 'held'::text, 'kept'::text])))
);

create table observations (
  sink_id integer not null,
  ref integer not null,
  outcome text not null,
  reason text not null default ''::text,
  changes bigint not null,
  PRIMARY KEY (sink_id, ref, outcome, reason),
  CHECK ((outcome = ANY (ARRAY['send'::text, 'send-anonymous'::text, 'withhold'::text, 'supersede'::text])))
);

create table page_sessions (
  hash bytea not null,
  holder text not null,
  under text not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (hash)
);

create table pages (
  stream_id bigint not null,
  ordinal integer not null,
  cursor text,
  digest bytea,
  keys text[] not null,
  first_value bigint,
  last_value bigint,
  low bigint,
  high bigint,
  direction text,
  newest_at bigint,
  set_aside integer not null,
  foreign_rows integer not null default 0,
  PRIMARY KEY (stream_id, ordinal),
  FOREIGN KEY (stream_id) REFERENCES streams(id),
  CHECK ((direction = ANY (ARRAY['ascending'::text, 'descending'::text, 'mixed'::text])))
);

create table pauses (
  scope text not null,
  name text not null,
  paused_by text not null,
  cause text not null,
  detail text not null,
  fingerprint text,
  since timestamp with time zone not null default now(),
  actor text,
  PRIMARY KEY (scope, name, paused_by),
  CHECK ((paused_by = ANY (ARRAY['person'::text, 'cause'::text]))),
  CHECK ((scope = ANY (ARRAY['workspace'::text, 'pigeonhole'::text, 'sink'::text, 'import'::text])))
);

create table pigeonholes (
  ref integer not null generated always as identity,
  workspace text not null,
  pigeonhole_id bigint not null,
  status text,
  next_sequence bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  gone_at timestamp with time zone,
  ended_at timestamp with time zone,
  read_by_id_at timestamp with time zone,
  rehearsal_since timestamp with time zone,
  rehearsal_until timestamp with time zone,
  rehearsal_by text,
  UNIQUE (workspace, pigeonhole_id),
  PRIMARY KEY (ref)
);

create table progress (
  ref integer not null,
  sink_id integer not null,
  minute timestamp with time zone not null,
  total bigint not null,
  PRIMARY KEY (ref, sink_id, minute)
);

create table provisioned (
  workspace text not null,
  event text not null,
  object text not null,
  parent_id bigint not null,
  state text not null,
  remote_id bigint,
  attempt integer not null,
  sent json not null,
  known_before text not null,
  sent_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  requested_by text,
  PRIMARY KEY (workspace, event, object),
  CHECK (((state = 'made'::text) = (remote_id IS NOT NULL))),
  CHECK ((state = ANY (ARRAY['none'::text, 'sending'::text, 'made'::text])))
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
  window_told boolean not null default false,
  PRIMARY KEY (fingerprint)
);

create table recent_deletions (
  ref integer not null,
  list text not null,
  since timestamp with time zone not null,
  items integer not null,
  PRIMARY KEY (ref, list),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table registrant_lists (
  ref integer not null,
  position bigint not null default 0,
  rules text not null,
  PRIMARY KEY (ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table registrant_passes (
  import integer not null,
  round integer not null default 0,
  after_row integer not null default 0,
  stage text not null default 'rows'::text,
  PRIMARY KEY (import),
  CHECK ((stage = ANY (ARRAY['rows'::text, 'late'::text, 'done'::text])))
);

create table registrants (
  ref integer not null,
  code_hash bytea not null,
  import integer not null,
  round integer not null default 0,
  row_number integer not null,
  data_hash bytea not null,
  profile json not null,
  outcome text,
  field text,
  message text,
  request_id text,
  origin integer,
  sent text,
  PRIMARY KEY (ref, code_hash),
  CHECK ((outcome = ANY (ARRAY['created'::text, 'confirmed'::text, 'existing'::text, 'conflict'::text, 'rejected'::text, 'unknown'::text]))),
  CHECK ((sent = ANY (ARRAY['refused'::text, 'unknown'::text])))
);

create table replay_lanes (
  replay integer not null,
  sink_id integer not null,
  ref integer not null,
  until bigint not null,
  position bigint not null default 0,
  emitted integer not null default 0,
  done_at timestamp with time zone,
  total integer,
  sent integer not null default 0,
  PRIMARY KEY (replay, sink_id, ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  FOREIGN KEY (replay) REFERENCES replays(number),
  FOREIGN KEY (sink_id) REFERENCES sinks(id)
);

create table replays (
  number integer not null generated always as identity,
  id uuid not null,
  lists text,
  from_at timestamp with time zone,
  requested_at timestamp with time zone not null default now(),
  requested_by text,
  reason text,
  UNIQUE (id),
  PRIMARY KEY (number)
);

create table retention_passes (
  ref integer not null,
  list text not null,
  after_key text,
  passed_at timestamp with time zone,
  PRIMARY KEY (ref, list),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table selections (
  sync text not null,
  ref integer not null,
  selected_at timestamp with time zone not null default now(),
  archived_at timestamp with time zone,
  PRIMARY KEY (sync, ref),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table sign_ins (
  ref integer not null,
  attendee_id bigint not null,
  code_hash bytea,
  registrant_id bigint,
  signed_in_at text,
  subject bytea not null,
  PRIMARY KEY (ref, attendee_id),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref)
);

create table sink_objects (
  sink_id integer not null,
  ref integer not null,
  list text not null,
  key text not null,
  object json not null,
  updated_at timestamp with time zone not null default now(),
  PRIMARY KEY (sink_id, ref, list, key),
  FOREIGN KEY (sink_id) REFERENCES sinks(id)
);

create table sinks (
  id integer not null generated always as identity,
  name text not null,
  type text not null,
  wake boolean not null default false,
  created_at timestamp with time zone not null default now(),
  archived_at timestamp with time zone,
  history_ms bigint,
  failing_since timestamp with time zone,
  retry_at timestamp with time zone,
  ramp integer,
  try_now_at timestamp with time zone,
  UNIQUE (name),
  PRIMARY KEY (id)
);

create table streams (
  id bigint not null generated always as identity,
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
  checkpoint text,
  checkpoint_key text,
  per_page integer,
  due_at timestamp with time zone not null default now(),
  sweep_due_at timestamp with time zone default now(),
  polled_at timestamp with time zone,
  swept_at timestamp with time zone,
  item_count integer,
  failures integer not null default 0,
  failure text,
  clean_direction text,
  head_id bigint,
  sweeps integer not null default 0,
  page_count integer,
  swept_from timestamp with time zone,
  differs boolean not null default true,
  sequence_hash bytea,
  sequence_since timestamp with time zone,
  set_aside integer not null default 0,
  gone_count integer not null default 0,
  gone_since timestamp with time zone,
  gone_at timestamp with time zone,
  changed_at timestamp with time zone,
  quiet_reads integer not null default 0,
  foreign_rows integer not null default 0,
  every_ms bigint,
  every_reason text,
  wanted_ms bigint,
  sweep_failures integer not null default 0,
  cursors_discarded integer not null default 0,
  doubt_since timestamp with time zone,
  doubt_keys text[],
  UNIQUE (ref, list, session_id),
  PRIMARY KEY (id),
  FOREIGN KEY (ref) REFERENCES pigeonholes(ref),
  CHECK ((clean_direction = ANY (ARRAY['ascending'::text, 'descending'::text]))),
  CHECK ((item_order = ANY (ARRAY['unknown'::text, 'ascending'::text, 'descending'::text, 'unordered'::text])))
);

create table syncs (
  name text not null,
  workspace text not null,
  choice json not null,
  created_at timestamp with time zone not null default now(),
  archived_at timestamp with time zone,
  PRIMARY KEY (name)
);

create table tokens (
  id text not null,
  name text not null,
  hash bytea not null,
  roles text not null,
  workspace text,
  created_at timestamp with time zone not null default clock_timestamp(),
  created_by text not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  PRIMARY KEY (id)
);

create table visibility_reviews (
  ref integer not null,
  session_id bigint not null,
  after_list text not null,
  after_key text not null,
  needs timestamp with time zone,
  PRIMARY KEY (ref, session_id)
);

create table walks (
  stream_id bigint not null,
  kind text not null,
  number integer not null,
  started_at timestamp with time zone not null,
  first_at timestamp with time zone not null,
  cursor text,
  checkpoint text,
  check_key text,
  direction text,
  page_first bigint,
  page_last bigint,
  through boolean not null,
  until_id bigint,
  top_id bigint,
  differs boolean not null,
  pages integer not null,
  items integer not null,
  set_aside integer not null,
  foreign_rows integer not null default 0,
  PRIMARY KEY (stream_id, kind),
  FOREIGN KEY (stream_id) REFERENCES streams(id),
  CHECK ((direction = ANY (ARRAY['ascending'::text, 'descending'::text, 'mixed'::text]))),
  CHECK ((kind = ANY (ARRAY['poll'::text, 'sweep'::text])))
);

create table workspace_mappings (
  workspace text not null,
  name text not null,
  columns json not null,
  saved_at timestamp with time zone not null default now(),
  saved_by text,
  PRIMARY KEY (workspace, name)
);

create table workspaces (
  name text not null,
  wait_until timestamp with time zone,
  wait_reason text,
  wait_count integer not null default 0,
  discovered_at timestamp with time zone,
  registrants_at_once integer,
  registrant_index_base smallint,
  refuses_whole boolean not null default false,
  unanswered_since timestamp with time zone,
  unanswered_reason text,
  PRIMARY KEY (name),
  CHECK ((wait_reason = ANY (ARRAY['quota'::text, 'throttled'::text, 'credential'::text])))
);

CREATE INDEX alert_messages_of_receiver ON alert_messages USING btree (receiver, number);
CREATE UNIQUE INDEX audit_ends ON audit USING btree (asked) WHERE (asked IS NOT NULL);
CREATE INDEX changes_with_snapshot ON changes USING btree (ref, list, key) WHERE (snapshot IS NOT NULL);
CREATE INDEX deliveries_in_order ON deliveries USING btree (((((sink_id)::bigint << 32) | (ref)::bigint)), sequence, replay) WHERE (state = ANY (ARRAY['waiting'::text, 'retry'::text]));
CREATE INDEX deliveries_of_item ON deliveries USING btree (((sink_id + 0)), ref, list, key, sequence, replay) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text, 'retry'::text, 'dead'::text]));
CREATE INDEX deliveries_parked ON deliveries USING btree (sink_id, ref, list, state, reason) WHERE (state = ANY (ARRAY['withheld'::text, 'dead'::text]));
CREATE INDEX deliveries_sending ON deliveries USING btree (((((sink_id)::bigint << 32) | (ref)::bigint)), sequence, replay) WHERE (state = 'sending'::text);
CREATE INDEX deliveries_told_settled ON deliveries USING btree (((sink_id + 0)), ref, list, key, sequence, replay) WHERE ((list = ANY (ARRAY['attendees'::text, 'engagement'::text, 'registrants'::text])) AND (identity IS NOT NULL) AND (state <> 'sending'::text));
CREATE INDEX erasures_asked ON erasures USING btree (asked_hash);
CREATE INDEX erasures_open ON erasures USING btree (number) WHERE (ended_at IS NULL);
CREATE INDEX import_chunks_unsettled ON import_chunks USING btree (import, state, due_at) WHERE (state <> 'created'::text);
CREATE INDEX import_rows_waiting ON import_rows USING btree (import, row_number) WHERE (outcome = 'waiting'::text);
CREATE INDEX imports_of_pigeonhole ON imports USING btree (ref);
CREATE INDEX imports_open ON imports USING btree (number) WHERE (state = ANY (ARRAY['staging'::text, 'running'::text]));
CREATE INDEX items_by_session ON items USING btree (ref, session_id, list, key) WHERE ((visibility IS NOT NULL) AND (session_id IS NOT NULL));
CREATE INDEX items_erased ON items USING btree (ref, list, key) WHERE erased;
CREATE INDEX items_of_attendee ON items USING btree (ref, attendee_id) WHERE ((visibility = 'named'::text) AND (list <> 'attendees'::text));
CREATE INDEX missing_of_stream ON missing USING btree (stream_id);
CREATE UNIQUE INDEX provisioned_remote ON provisioned USING btree (workspace, ((parent_id = 0)), remote_id) WHERE (remote_id IS NOT NULL);
CREATE INDEX registrants_by_import ON registrants USING btree (import, row_number);
CREATE INDEX registrants_in_doubt ON registrants USING btree (import, origin) WHERE (origin IS NOT NULL);
CREATE INDEX registrants_settled ON registrants USING btree (import, outcome) WHERE (outcome IS NOT NULL);
CREATE INDEX replay_lanes_open ON replay_lanes USING btree (sink_id, ref) WHERE (done_at IS NULL);
CREATE INDEX sign_ins_by_code ON sign_ins USING btree (ref, code_hash) WHERE (code_hash IS NOT NULL);
CREATE INDEX sign_ins_by_registrant ON sign_ins USING btree (ref, registrant_id) WHERE (registrant_id IS NOT NULL);
CREATE INDEX streams_due ON streams USING btree (ref, due_at) WHERE wanted;
CREATE UNIQUE INDEX tokens_by_name ON tokens USING btree (name) WHERE (revoked_at IS NULL);
