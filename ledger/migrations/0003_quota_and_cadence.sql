-- 0003: the request quota of each API key, whatever number of workspaces and processes use it; what says how often a
-- stream is read.
-- Locks: workspaces, pigeonholes and streams, for a moment. Previous version: no longer sees a workspace's quota.

alter table workspaces drop column quota_limit, drop column quota_remaining, drop column quota_reset_at;
alter table pigeonholes add column ended_at timestamptz; -- first seen as ended; null: it is not
alter table streams
  add column changed_at  timestamptz,                -- end of the last read that found something
  add column quiet_reads integer not null default 0; -- reads in a row that found nothing

-- Rewritten at every request: room on the page keeps the new version of a row beside the old one.
create table quotas (
  fingerprint    text primary key,  -- of the API key
  request_limit  integer,           -- requests of a window; null: not known
  limit_until    timestamptz,       -- a limit that was learnt from a refusal is forgotten then; null: the service's word
  window_number  integer not null default 1,
  window_whole   boolean not null default false, -- its beginning was seen, so that its count says what the limit is
  window_from    timestamptz not null default now(),
  window_ms      bigint not null default 86400000, -- as documented, or as short as one was seen to be
  reset_at       timestamptz,       -- null: the service does not say; at the latest window_from + window_ms
  used           integer not null default 0, -- of this window
  used_imports   integer not null default 0,
  used_idle      integer not null default 0,
  used_sweeps    integer not null default 0,
  unsure         integer not null default 0, -- of those used: whether the service has counted them
  remaining      integer,           -- at most; null: not known
  refusals       integer not null default 0, -- in a row, those under way at once being one
  refused_window integer,           -- the window that the last one was in
  wait_until     timestamptz,       -- nothing is asked before
  alone_until    timestamptz        -- a request is under way that no other may stand beside; its answer ends that
) with (fillfactor = 50);
