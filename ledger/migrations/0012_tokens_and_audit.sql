-- 0012: API tokens with their permissions, the audit log of requests, and the recent progress of work (decision 0027).
-- Locks: none that is held; pigeonholes and lanes are read once. Previous version: keeps running, and records no progress.

-- A token is shown only once, when it is created. Only its hash is stored.
create table tokens (
  id text primary key, -- the public part of the token
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

-- Two rows per action: the request, written before the action starts, and its outcome. If the second row is missing, the
-- action is still running, or its process ended first.
create table audit (
  number bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  asked bigint references audit (number), -- in the row of an outcome: the row of the request
  who text,
  token text, -- the id of a named token
  action text,
  target text,
  detail json, -- counts and codes only
  subject bytea, -- HMAC of the person whose data was shown, as in items
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

-- Totals by minute: the number of changes of a pigeonhole (sink 0), and the number of changes that a lane has delivered. A
-- minute in which a total does not change has no row.
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
