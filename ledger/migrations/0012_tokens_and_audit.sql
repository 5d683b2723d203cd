-- 0012: who may ask the API for what, what was asked, and how fast work went lately (decision 0027).
-- Locks: none that is held; pigeonholes and lanes are read once. Previous version: keeps running, and notes no progress.

-- A token is shown once, when it is made; only its hash is kept.
create table tokens (
  id text primary key, -- the part of the token that is no secret
  name text not null,
  hash bytea not null,
  roles text not null, -- separated by spaces
  workspace text, -- null: all
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  expires_at timestamptz, -- null: never
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index tokens_by_name on tokens (name) where revoked_at is null;

-- Two rows an action: what was asked, written before it begins, and how it ended. A row without its end belongs to a
-- process that ended first.
create table audit (
  number bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  asked bigint references audit (number), -- of an end: the row of what was asked
  who text,
  token text, -- the id of a named one
  action text,
  target text,
  detail json, -- counts and codes alone
  subject bytea, -- whose data was shown: their HMAC, as in items
  request_id text not null,
  outcome text check (outcome in ('done', 'refused', 'failed')),
  status integer,
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

-- Totals as they stood when a minute was last looked at: of a pigeonhole's changes (sink 0), and of what a lane has
-- delivered. A minute in which a total stays as it is has no row.
create table progress (
  ref integer not null,
  sink_id integer not null,
  minute timestamptz not null,
  total bigint not null,
  primary key (ref, sink_id, minute)
);
insert into progress (ref, sink_id, minute, total)
  select ref, 0, to_timestamp(0), next_sequence - 1 from pigeonholes
  union all select ref, sink_id, to_timestamp(0), delivered from lanes;
