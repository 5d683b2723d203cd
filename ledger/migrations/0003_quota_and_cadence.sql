-- 0003: the request quota of each API key, which all workspaces and processes with that key share; values that determine
-- the polling interval of a stream.
-- Locks: workspaces, pigeonholes and streams, for a moment. Previous version: no longer sees a workspace's quota.

alter table workspaces drop column quota_limit, drop column quota_remaining, drop column quota_reset_at;
alter table pigeonholes add column ended_at timestamptz; -- when it was first seen as ended; null: it has not ended
alter table streams
  add column changed_at  timestamptz,                -- end of the last read that found something
  add column quiet_reads integer not null default 0; -- number of consecutive reads that found nothing

-- A row is rewritten at every request. The fill factor leaves room on its page for the new version of the row.
create table quotas (
  fingerprint    text primary key,  -- of the API key
  request_limit  integer,           -- number of requests per window; null: not known
  limit_until    timestamptz,       -- when a limit inferred from a refusal expires; null: the service reported the limit
  window_number  integer not null default 1,
  window_whole   boolean not null default false, -- true if counting started with the window, so that `used` shows the limit when the service refuses
  window_from    timestamptz not null default now(),
  window_ms      bigint not null default 86400000, -- as documented, or shorter if a shorter window was observed
  reset_at       timestamptz,       -- null: the service does not report it; at the latest window_from + window_ms
  used           integer not null default 0, -- number of requests in this window
  used_imports   integer not null default 0,
  used_idle      integer not null default 0,
  used_sweeps    integer not null default 0,
  unsure         integer not null default 0, -- number of used requests of which it is unknown whether the service counted them
  remaining      integer,           -- maximum number of requests that are left; null: not known
  refusals       integer not null default 0, -- number of consecutive refusals; refusals of concurrent requests count as one
  refused_window integer,           -- the window of the last refusal
  wait_until     timestamptz,       -- no request is sent before this time
  alone_until    timestamptz        -- until then, a request in progress excludes all others; its answer ends that
) with (fillfactor = 50);
