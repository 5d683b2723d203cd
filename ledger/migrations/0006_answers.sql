-- 0006: answers for `pigeonpost why` and `status`: the response in which each change was found; the settings with which a
-- lane last sent, so that dead letters are sent again when the settings change; whether the service reported the length of
-- a quota's window; since when a sink has accepted nothing.
-- Locks: lanes, changes, sinks and quotas, for a moment. Previous version: keeps running, and does not use the columns.

alter table lanes add column settings text; -- keyed fingerprint of the sink's settings; null: not recorded yet
alter table changes
  add column request_id text, -- id of the service's response that showed the change; null: no response, or one without an id
  add column read_as    text; -- the read and the page that found it, in words
alter table sinks
  add column failing_since timestamptz, -- since when no lane of the sink has delivered; null: a lane delivers
  add column retry_at      timestamptz, -- when one of the lanes tries again
  add column ramp          integer;     -- after a failure: maximum changes per batch, doubled after each success; null: no limit
alter table quotas add column window_told boolean not null default false; -- true if the service reported window_ms
