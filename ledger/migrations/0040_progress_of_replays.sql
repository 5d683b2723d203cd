-- 0040: store how many items a replay has to send on a lane and how many the destination accepted, for its progress.
-- Locks: replay_lanes, for a moment; no row is rewritten. Previous version: keeps running, leaves `total` empty, and does
-- not count what it sends.

-- `total` is counted when the replay is requested; null for a replay that a previous version requested.
alter table replay_lanes
  add column total integer,
  add column sent integer not null default 0;
