-- 0006: what lets a person ask why: where each change was read; what a lane was last sent on with, so that dead letters
-- are tried again when their sink has changed; whether the length of a quota's window was ever told;
-- that a sink takes nothing at all.
-- Locks: lanes, changes, sinks and quotas, for a moment. Previous version: does not know the columns, and runs beside it.

alter table lanes add column settings text; -- keyed fingerprint of the sink's settings; null: not noted yet
alter table changes
  add column request_id text, -- of the service's answer that showed it; null: no answer did, or it bore none
  add column read_as    text; -- the page of which read, in words
alter table sinks
  add column failing_since timestamptz, -- none of its lanes passes; null: some does
  add column retry_at      timestamptz, -- one of them tries again then
  add column ramp          integer;     -- it passes again: so many changes at once, twice as many next time; null: all
alter table quotas add column window_told boolean not null default false; -- window_ms comes from the service's word
